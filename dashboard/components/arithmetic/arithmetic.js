import { element } from "../shared/elements.js";
import { percent } from "../shared/numbers.js";

const SHOWN = 8; // lines of an operation before the rest is folded
const ROW_PAUSE = 260; // milliseconds a line takes to appear while playing
const STAGE_PAUSE = 1700;
const views = new WeakMap();
const still = matchMedia("(prefers-reduced-motion: reduce)");

// Streamlit calls this first, and again when the data or the theme change.
export default function ({ data, parentElement, setTriggerValue }) {
  const frame = parentElement.querySelector(".arithmetic");
  let view = views.get(frame);
  if (!view) {
    view = { frame, at: 0, playing: 0, past: [], opened: null, unfolded: new Set() };
    views.set(frame, view);
    frame.addEventListener("keydown", (event) => onKey(view, event));
    highlightTerms(frame);
  }
  view.data = data;
  view.send = (choice) => setTriggerValue("choose", choice);
  if (view.next !== undefined) [view.at, view.next] = [view.next, undefined];
  draw(view);
  return () => {
    clearTimeout(view.timer);
    views.delete(frame);
  };
}

// Stage 0 is the overview.
function count(view) {
  return view.data.stages.length + 1;
}

function go(view, at, playing = 0) {
  clearTimeout(view.timer);
  view.at = Math.max(0, Math.min(count(view) - 1, at));
  view.playing = playing;
  view.opened = null;
  view.revealed = playing > 0 && !still.matches ? 0 : Infinity;
  draw(view);
  if (playing) tick(view);
}

// Shows line after line, then the next stage; backwards it goes stage by stage.
function tick(view) {
  const bodies = [...view.frame.querySelectorAll("tbody")];
  const lines = Math.max(0, ...bodies.map((body) => body.rows.length));
  const appearing = view.revealed < lines;
  view.timer = setTimeout(
    () => {
      if (appearing) {
        view.revealed += 1;
        reveal(view);
        tick(view);
      } else {
        const next = view.at + view.playing;
        if (next < 0 || next >= count(view)) go(view, view.at);
        else go(view, next, view.playing);
      }
    },
    appearing ? ROW_PAUSE : STAGE_PAUSE,
  );
}

function reveal(view) {
  for (const body of view.frame.querySelectorAll("tbody"))
    [...body.rows].forEach((row, i) => row.classList.toggle("waiting", i >= view.revealed));
}

function onKey(view, event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) go(view, view.at + step);
  else if (event.key === " " && event.target === view.frame) go(view, view.at, view.playing ? 0 : 1);
  else if (event.key === "Escape") go(view, 0);
  else return;
  event.preventDefault();
}

function draw(view) {
  const focus = view.frame.getRootNode().activeElement?.dataset?.focus;
  const { stages, sides } = view.data;
  view.frame.replaceChildren(controls(view), stageButtons(view));
  const both = element(view.frame, "div", "sides");
  sides.forEach((side, number) => {
    const section = element(both, "section", `side side-${number}`);
    element(section, "h3", "", side.title);
    if (view.at === 0) overview(view, section, side, number);
    else stage(view, section, side, number, stages[view.at - 1]);
  });
  reveal(view);
  if (focus) view.frame.querySelector(`[data-focus="${focus}"]`)?.focus();
}

function controls(view) {
  const bar = document.createElement("div");
  bar.className = "bar";
  const button = (icon, label, act, disabled = false) => {
    const made = element(bar, "button", "control", icon);
    made.title = label;
    made.setAttribute("aria-label", label);
    made.dataset.focus = label;
    made.disabled = disabled;
    made.addEventListener("click", act);
  };
  const last = count(view) - 1;
  button("Overview", "Overview", () => go(view, 0), view.at === 0);
  button("◀", "Play backwards", () => go(view, view.at - 1, -1), view.at === 0);
  button("‹", "Step back", () => go(view, view.at - 1), view.at === 0);
  if (view.playing) button("⏸", "Pause", () => go(view, view.at));
  else button("▶", "Play", () => go(view, view.at === last ? 0 : view.at, 1));
  button("›", "Next step", () => go(view, view.at + 1), view.at === last);
  const where = view.at ? `Step ${view.at} of ${last}: ${view.data.stages[view.at - 1].title}` : "Overview";
  element(bar, "span", "where", where).setAttribute("aria-live", "polite");
  if (view.past.length) {
    const back = element(bar, "button", "link", `↩ back to ${view.past.at(-1).words}`);
    back.addEventListener("click", () => {
      const { at, chosen } = view.past.pop();
      view.next = at;
      view.send(chosen);
    });
  }
  return bar;
}

// The overview of the model: a button for each stage, in rows, with the result of the stage.
function stageButtons(view) {
  const { stages, sides } = view.data;
  const made = document.createElement("nav");
  made.className = "way";
  made.setAttribute("aria-label", "The way from words to a probability");
  for (const row of new Set(stages.map((each) => each.row))) {
    const line = element(made, "div", "way-row");
    element(line, "span", "way-name", row);
    stages.forEach((each, i) => {
      if (each.row !== row) return;
      const chip = element(line, "button", i + 1 === view.at ? "chip here" : "chip");
      chip.dataset.focus = `stage-${i}`;
      if (i + 1 === view.at) chip.setAttribute("aria-current", "step");
      element(chip, "span", "chip-title", each.title);
      const numbers = sides.map((side) => {
        const done = operationsOf(side, each);
        return done.length ? shortNumber(done.at(-1).result) : "–";
      });
      element(chip, "span", "chip-numbers", numbers.join(" | "));
      chip.addEventListener("click", () => go(view, i + 1));
    });
  }
  return made;
}

function operationsOf(side, stage) {
  return side.operations.filter((each) => stage.operations.includes(each.name));
}

function overview(view, section, side, number) {
  element(section, "p", "says", side.words.overview);
  const table = element(section, "table", "outcomes");
  const head = element(element(table, "thead"), "tr");
  for (const name of ["class", "mean m", "variance σ²", "probability"]) element(head, "th", "", name);
  const body = element(table, "tbody");
  side.outcomes.forEach((each, column) => {
    const row = element(body, "tr", column === side.chosen.column ? "chosen" : "");
    const cell = element(row, "td");
    const pick = element(cell, "button", "link", each.name);
    pick.title = `Follow ${each.name}`;
    pick.dataset.focus = `class-${number}-${column}`;
    pick.addEventListener("click", () => view.send({ column, side: number }));
    element(row, "td", "number", shortNumber(each.mean));
    element(row, "td", "number", shortNumber(each.var));
    const chance = element(row, "td", "number chance", percent(each.probability));
    chance.style.setProperty("--share", String(each.probability));
  });
}

function stage(view, section, side, number, each) {
  const done = operationsOf(side, each);
  if (!done.length) element(section, "p", "says", side.absent[each.operations[0]] ?? "Nothing happens here.");
  for (const operation of done) {
    element(section, "p", "says", side.words[operation.name] ?? "");
    section.append(formula(operation));
    section.append(lines(view, side, number, each, operation));
  }
}

// symbol = then(start + sum over lines of each(product)).
function formula(operation) {
  const made = document.createElement("p");
  made.className = "formula";
  const say = (words) => element(made, "span", "", words);
  term(made, operation.symbol, operation.symbol);
  say(" = ");
  const [before, after] = wrapped(operation.then);
  say(before);
  if (operation.start_symbol) {
    term(made, operation.start_symbol, operation.start_symbol);
    say(operation.lines.length ? " + " : "");
  }
  if (operation.over && operation.lines.length) {
    say(operation.multiply ? "∏" : "∑");
    element(made, "sub", "", operation.over);
    say(" ");
  }
  const [open, close] = wrapped(operation.each);
  say(open);
  if (operation.lines.length)
    operation.columns.forEach((column, i) => {
      if (i) say(" · ");
      term(made, column, column);
    });
  say(close + after);
  return made;
}

function wrapped(name) {
  if (!name) return ["", ""];
  if (name.includes("·")) return name.split("·");
  if (name === "exp − 1") return ["(exp ", " − 1)"];
  return [`${name}(`, ")"];
}

// A symbol such as h_iu with its index lowered; it is highlighted together with its numbers.
function term(parent, symbol, name) {
  const made = element(parent, "span", "term");
  made.dataset.term = name;
  made.tabIndex = 0;
  for (const [, plain, lowered] of symbol.matchAll(/([^_]+)(?:_([a-z]+))?/g)) {
    element(made, "i", "", plain);
    if (lowered) element(made, "sub", "", lowered);
  }
}

function lines(view, side, number, each, operation) {
  const made = document.createElement("div");
  made.className = "lines";
  const table = element(made, "table");
  const body = element(table, "tbody");
  const id = `${number}-${operation.name}`;
  const all = operation.lines.map((line, i) => ({ ...line, i }));
  const folded = all.length > SHOWN + 1 && !view.unfolded.has(id);
  const loudest = [...all].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const kept = new Set((folded ? loudest.slice(0, SHOWN) : all).map((line) => line.i));
  if (operation.picked !== null) kept.add(operation.picked);
  for (const one of all) if (isChosen(side, one)) kept.add(one.i);
  if (operation.start_symbol) {
    const row = element(body, "tr", "start");
    element(row, "td", "label", "start");
    element(row, "td", "number", shortNumber(operation.start)).dataset.term = operation.start_symbol;
  }
  const largest = Math.max(...all.map((line) => Math.abs(line.value)), 1e-12);
  for (const line of all) {
    if (!kept.has(line.i)) continue;
    const mine = isChosen(side, line) || line.i === operation.picked;
    const row = element(body, "tr", mine ? "line chosen" : "line");
    const opened = view.opened === `${id}-${line.i}`;
    const label = element(element(row, "td", "label"), "button", "link", line.label);
    label.dataset.focus = `line-${id}-${line.i}`;
    label.setAttribute("aria-expanded", String(opened));
    label.addEventListener("click", () => {
      view.opened = opened ? null : `${id}-${line.i}`;
      view.playing = 0;
      clearTimeout(view.timer);
      view.revealed = Infinity;
      draw(view);
    });
    const product = element(row, "td", "number product");
    line.factors.forEach((factor, i) => {
      if (i) element(product, "span", "times", " × ");
      digits(product, factor, operation.columns[i]);
    });
    const value = element(row, "td", "number value");
    value.style.setProperty("--share", String(Math.abs(line.value) / largest));
    value.classList.toggle("negative", line.value < 0);
    if (operation.each) element(value, "span", "times", `${operation.each} = `);
    digits(value, line.value);
    if (opened) body.append(multiplication(view, side, number, each, operation, line));
  }
  const rest = all.filter((line) => !kept.has(line.i));
  if (rest.length) {
    const row = element(body, "tr", "rest");
    const cell = element(row, "td", "label");
    const more = element(cell, "button", "link", `… and ${rest.length} more`);
    more.dataset.focus = `more-${id}`;
    more.addEventListener("click", () => {
      view.unfolded.add(id);
      draw(view);
    });
    element(row, "td", "number times", operation.multiply ? "together ×" : "together");
    const values = rest.map((line) => line.value);
    const together = operation.multiply
      ? values.reduce((a, b) => a * b, 1)
      : values.reduce((a, b) => a + b, 0);
    digits(element(row, "td", "number"), together);
  }
  const foot = element(element(table, "tfoot"), "tr");
  const what = operation.multiply ? "multiplied" : operation.picked !== null ? "the class followed" : "sum";
  element(foot, "td", "label", operation.then ? `${what}, then ${operation.then.replace("·", "sum")}` : what);
  const total = element(foot, "td", "number");
  if (operation.then) digits(total, operation.total);
  const result = element(foot, "td", "number result");
  digits(result, operation.result, operation.symbol);
  return made;
}

// One multiplication, enlarged, with a link to the calculation of its number.
function multiplication(view, side, number, each, operation, line) {
  const row = document.createElement("tr");
  row.className = "zoom";
  const cell = element(row, "td");
  cell.colSpan = 3;
  const sum = element(cell, "div", "large");
  line.factors.forEach((factor, i) => {
    if (i) element(sum, "span", "times", " × ");
    const part = element(sum, "span", "part");
    digits(part, factor, operation.columns[i]);
    term(element(part, "small"), operation.columns[i], operation.columns[i]);
  });
  element(sum, "span", "times", " = ");
  digits(element(sum, "span", "part"), line.product);
  if (operation.each) {
    element(sum, "span", "times", ` → ${operation.each} = `);
    digits(element(sum, "span", "part"), line.value);
  }
  const about = { node: "node", neighbour: "node", unit: "unit", column: "column" }[each.chooses];
  if (about && line[about] !== null && line[about] !== undefined) {
    const target = view.data.stages.findIndex((other) => other.operations.includes(each.opens));
    const words = `Where this number of ${line.label} comes from →`;
    const open = element(cell, "button", "link", words);
    open.dataset.focus = "open";
    open.addEventListener("click", () => {
      const { node, neighbour, unit, column } = side.chosen;
      const chosen = { node, neighbour, unit, column, side: number };
      view.past.push({ at: view.at, chosen, words: each.title });
      view.opened = null;
      view.next = target + 1;
      if (line[about] === side.chosen[each.chooses]) [view.next, view.at] = [undefined, target + 1];
      if (view.next === undefined) draw(view);
      else view.send({ ...chosen, [each.chooses]: line[about] });
    });
  }
  return row;
}

function isChosen(side, line) {
  if (line.unit !== null) return line.unit === side.chosen.unit;
  if (line.node !== null) return line.node === side.chosen.neighbour;
  return line.column !== null && line.column === side.chosen.column;
}

// Highlights everything of one symbol together, under the pointer or the keyboard's focus.
function highlightTerms(frame) {
  const on = (event) => {
    const here = event.target.closest?.("[data-term]");
    for (const lit of frame.querySelectorAll(".lit")) lit.classList.remove("lit");
    if (!here) return;
    const section = here.closest("section");
    for (const one of section.querySelectorAll("[data-term]"))
      if (one.dataset.term === here.dataset.term) one.classList.add("lit");
  };
  for (const kind of ["pointerover", "focusin", "click"]) frame.addEventListener(kind, on);
}

function digits(parent, value, symbol) {
  const made = element(parent, "span", "digits", shortNumber(value));
  made.title = String(value);
  if (symbol) made.dataset.term = symbol;
  return made;
}

function shortNumber(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-4 || size >= 1e5) return value.toExponential(2).replace("-", "−").replace("e", "·10^");
  const digits = size >= 1 ? 3 : Math.min(7, 3 - Math.floor(Math.log10(size)));
  return value.toFixed(digits).replace("-", "−");
}

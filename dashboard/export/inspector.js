// The panel beside the view: one node, or a group of nodes.

import { shadeValue } from "../components/map/legend.js";
import { aboutOf, lowerBound, nameOf } from "../components/map/scene.js";
import { create } from "../components/shared/elements.js";
import { percent, percentRange } from "../components/shared/numbers.js";
import { missingLinks } from "./missing_links.js";
import { classColour, colourOf, content, go, graph, neighbours, state } from "./state.js";
import { capital, counted, short, strong, table } from "./words.js";

const MOST_LISTED = 200;
const PARTS = {
  train: "its class was told in training",
  validation: "used to choose the best epoch",
  test: "kept for testing",
  unused: "not used",
};
// A Gaussian from three standard deviations below its mean to three above.
const BELL = Array.from({ length: 41 }, (_, k) => -3 + (6 * k) / 40)
  .map((z) => `${(100 * (z + 3)) / 6}% ${100 * (1 - Math.exp(-(z * z) / 2))}%`)
  .join(", ");

export const classRow = (values, node, width) =>
  values instanceof Map ? values.get(node) : values.subarray(node * width, (node + 1) * width);

// The probability of the predicted class.
export const sureness = (run, node) => run.sure[node];

export function className(code) {
  return content.classes[code] ?? "unknown";
}

// A node's name as a heading, with what there is to read about it.
export function headingOf(node) {
  return graph.named ? titleOf(node) : `${capital(content.noun[0])} ${titleOf(node)}`;
}

export function titleOf(node) {
  const about = aboutOf(graph, node);
  return about ? `${nameOf(graph, node)}: ${about}` : nameOf(graph, node);
}

function verdict(run, node) {
  const [said, truth, shape] = [run.said[node], run.truth[node], run.shapes[node]];
  const [mark, words] =
    truth < 0 ? ["○", [" Its class is not known."]] :
    shape === 2 ? ["◆", [" In truth it is ", strong(className(truth)), ", a class that it was never shown."]] :
    shape === 1 ? ["✕", [" In truth it is ", strong(className(truth)), "."]] :
    ["✓", [" That is right."]];
  const kind = { "○": "open", "◆": "unseen", "✕": "wrong", "✓": "right" }[mark];
  const sure = `, ${percent(sureness(run, node), 0)} sure.`;
  return create(
    "p",
    { class: "verdict" },
    create("span", { class: `mark ${kind}`, "aria-hidden": "true" }, mark),
    " The model says ", strong(className(said)), sure, ...words,
  );
}

// A table with one row per class, drawn on an axis from 0 to 100.
function classTable(label, run, marks, ticks, told, predicted = -1, star = -1) {
  const line = "linear-gradient(var(--faint), var(--faint))";
  const grid = ticks.map(([at]) => `${line} ${at}% 0 / 1px 100% no-repeat`).join(", ");
  const rows = run.answers.map((code, k) => {
    const name = `${className(code)}${code === star ? " ★" : ""}`;
    const [number, hover] = told(k);
    return create(
      "tr",
      { class: k === predicted ? "predicted" : null, title: hover },
      create("th", { scope: "row" }, name),
      create("td", { class: "plot" }, create("div", {}, ...marks(k))),
      create("td", { class: "number" }, number),
    );
  });
  const axis = ticks.map(([at, text]) => create("span", { style: `left:${at}%` }, text));
  const foot = create("td", { class: "plot ticks" }, create("div", {}, ...axis));
  return create(
    "table",
    { class: "classes", "aria-label": label, style: `--grid:${grid}` },
    create("tbody", {}, ...rows),
    create("tfoot", { "aria-hidden": "true" }, create("tr", {}, create("td"), foot, create("td"))),
  );
}

export const span = (from, to) => create("i", { class: "span", style: `left:${from}%;width:${to - from}%` });

function probabilityTable(run, node) {
  const width = run.answers.length;
  const probs = classRow(run.probs, node, width);
  const [low, high] = [run.low, run.high].map((ends) => ends && classRow(ends, node, width));
  const predicted = probs.indexOf(Math.max(...probs));
  const marks = (k) => {
    const kind = k === predicted ? "bar answer" : "bar";
    const bar = create("i", { class: kind, style: `width:${100 * probs[k]}%` });
    return low ? [bar, span(100 * low[k], 100 * high[k])] : [bar];
  };
  const told = (k) => [percent(probs[k]), low ? `90% interval: ${percentRange(low[k], high[k])}` : null];
  const ticks = [[0, "0%"], [25, ""], [50, "50%"], [75, ""], [100, "100%"]];
  return classTable("Probability of each class", run, marks, ticks, told, predicted, run.truth[node]);
}

function messageTable(run, node) {
  const width = run.answers.length;
  const [mean, std] = [run.mean, run.std].map((values) => classRow(values, node, width));
  const left = Math.min(...mean.map((m, k) => m - 3 * std[k]));
  const right = Math.max(...mean.map((m, k) => m + 3 * std[k]));
  const scale = 100 / (right - left || 1);
  const marks = (k) => {
    const [at, one] = [scale * (mean[k] - left), scale * std[k]];
    const ridge = `left:${at - 3 * one}%;width:${6 * one}%;clip-path:polygon(${BELL})`;
    return [
      create("i", { class: "ridge", style: ridge }),
      span(at - one, at + one),
      create("i", { class: "mean", style: `left:${at}%` }),
    ];
  };
  const power = 10 ** Math.floor(Math.log10((right - left) / 5 || 1));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => (right - left) / s <= 5) ?? 1;
  const ticks = [];
  for (let k = Math.ceil(left / step); k <= right / step; k++) {
    ticks.push([scale * (k * step - left), short(k * step)]);
  }
  const told = (k) => [`${mean[k].toFixed(2)} ± ${std[k].toFixed(2)}`, null];
  return classTable("Message of each class", run, marks, ticks, told);
}

export const shareBelow = (ranks, shade) => lowerBound(ranks, shade) / ranks.length;

export const scoreOf = ({ looks: [{ turn }] }, shade) => shadeValue(turn, shade);

function scoreTable(run, node) {
  const rows = run.colours.filter((colour) => colour.score).map((colour) => {
    const shade = colour.shades[node];
    const rank = `less sure than ${Math.floor(100 * shareBelow(colour.ranks, shade))}%`;
    return [colour.label, short(scoreOf(colour, shade)), rank];
  });
  const head = ["Score", "Value", `Of all ${content.noun[1]}`];
  return table({ class: "plain", "aria-label": "Scores" }, head, rows);
}

// Which nodes speak for the answer: a sentence, and a bar for each of the strongest.
function reasonsOf(run, node) {
  const { why, because, nodes, values, gap, told, width } = run.reasons;
  if (!because?.[node]) return [create("p", { class: "words" }, why)];
  const row = (list) => [...classRow(list, node, width)];
  const strongest = row(nodes).flatMap((one, k) => (one === graph.count ? [] : [[one, row(values)[k]]]));
  const rest = strongest.reduce((left, [, value]) => left - value, classRow(gap, node, 1)[0]);
  const bars = [...strongest, ...(strongest.length < width ? [] : [[-1, rest]])];
  const most = Math.max(...bars.map(([, value]) => Math.abs(value)), 1e-9);
  const rows = bars.map(([one, value]) => {
    const size = (50 * Math.abs(value)) / most;
    const style = `left:${value < 0 ? 50 - size : 50}%;width:${size}%`;
    const name = one === node ? `the ${content.noun[0]} itself` : one < 0 ? "everything else" : create(
      "button", { type: "button", class: "source", title: titleOf(one), onclick: () => go({ node: one, group: null }) },
      `${graph.ids[one]}${told[one] ? " ◆" : ""}`,
    );
    const text = `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
    return create(
      "tr", {},
      create("th", { scope: "row" }, name),
      create("td", { class: "plot" }, create("div", {}, create("i", { class: value < 0 ? "against" : "for", style }))),
      create("td", { class: "number" }, text),
    );
  });
  return [
    create("p", {}, because[node]),
    create("table", { class: "classes reasons", "aria-label": "Contributions" }, create("tbody", {}, ...rows)),
    create("p", { class: "words" }, "What each adds to the answer's message over that of the other class; " +
      "a diamond marks those whose class was told."),
  ];
}

function factsOf(run, node) {
  const of = (name) => run.colours.find((colour) => colour.name === name);
  const part = of("part");
  const name = part && Object.keys(PARTS)[part.shades[node]];
  const links = neighbours(node).length;
  const away = of("distance")?.shades[node];
  const facts = [`${links.toLocaleString("en")} link${links === 1 ? "" : "s"}`];
  if (name) facts.unshift(capital(PARTS[name]));
  if (Number.isNaN(away)) facts.push(`no path to a training ${content.noun[0]}`);
  else if (Math.round(away) > 0) {
    const steps = Math.round(away);
    facts.push(`${steps} step${steps === 1 ? "" : "s"} from the nearest training ${content.noun[0]}`);
  }
  return facts.join(" · ");
}

// Nodes as buttons with their predictions.
function nodeList(run, nodes) {
  const item = (node) => {
    const wrong = run.shapes[node];
    const sign = create("i", { class: `sign ${["circle", "cross", "diamond"][wrong]}` });
    sign.style.color = classColour(run.said[node]);
    const said = `says ${className(run.said[node])}, ${percent(sureness(run, node), 0)}`;
    const truth = wrong ? `; in truth ${className(run.truth[node])}` : "";
    return create(
      "li",
      {},
      create(
        "button",
        { type: "button", class: "entry", onclick: () => go({ node, group: null }) },
        sign, create("span", { class: "who" }, titleOf(node)), create("small", {}, said + truth),
      ),
    );
  };
  const more = nodes.length - MOST_LISTED;
  return create(
    "ul",
    { class: "nodes" },
    ...nodes.slice(0, MOST_LISTED).map(item),
    more > 0 ? create("li", {}, `and ${more.toLocaleString("en")} more`) : null,
  );
}

const close = (act) =>
  create("button", { type: "button", class: "close", "aria-label": "Close", title: "Close", onclick: act }, "✕");

export function nodePanel(run, node) {
  const near = neighbours(node);
  /** @type {Node[]} */
  const parts = [
    create("div", { class: "head" }, create("h2", {}, headingOf(node)),
      close(() => go({ node: -1 }))),
    verdict(run, node),
  ];
  if (content.words?.[node]) parts.push(create("p", {}, "Speaks of ", strong(content.words[node]), "."));
  parts.push(create("h3", {}, "Probability of each class"), probabilityTable(run, node));
  const interval = "The star marks the true class. Whiskers: where that probability would lie in " +
    "90% of cases, were the message of the class known exactly. The bar is the average over these cases.";
  parts.push(create("p", { class: "words" }, run.low ? interval : run.no_interval));
  parts.push(create("p", { class: "words" }, factsOf(run, node)));
  parts.push(create("h3", {}, "Why this answer?"), ...reasonsOf(run, node), ...missingLinks(run, node));
  if (run.mean && run.std) {
    parts.push(create("h3", {}, "Message of each class"), messageTable(run, node));
    parts.push(create("p", { class: "words" }, "What reaches it from its own words and its links, with " +
      "one standard deviation either way. Where the ranges overlap, the model cannot tell the classes apart."));
  }
  parts.push(create("h3", {}, "How unsure is that?"), scoreTable(run, node));
  if (near.length) {
    parts.push(create("h3", {}, `Linked to ${counted(near.length, content.noun)}`), nodeList(run, near));
  }
  return parts;
}

export function groupPanel(run, { title, nodes }) {
  const right = nodes.filter((node) => run.shapes[node] === 0 && run.truth[node] >= 0).length;
  const mean = nodes.reduce((sum, node) => sum + sureness(run, node), 0) / (nodes.length || 1);
  return [
    create("div", { class: "head" }, create("h2", {}, `${counted(nodes.length, content.noun)} ${title}`),
      close(() => go({ group: null }))),
    create("p", {}, `${percent(mean, 0)} sure on average; ${right.toLocaleString("en")} answered rightly. ` +
      "The least sure come first."),
    state.view === "map" ? null : create(
      "button", { type: "button", class: "wideButton", onclick: () => go({ view: "map" }) },
      "Show them on the map",
    ),
    nodeList(run, [...nodes].sort((a, b) => sureness(run, a) - sureness(run, b))),
  ];
}

// The panel before a node is picked: what the map shows, and three nodes to start with.
export function welcome(run) {
  const [one, many] = content.noun;
  const tested = [...run.test.keys()].filter((node) => run.test[node]);
  const known = tested.filter((node) => run.truth[node] >= 0 && run.shapes[node] !== 2);
  const right = known.filter((node) => run.shapes[node] === 0).length / (known.length || 1);
  const line = one === "paper" ? "a citation" : "a link";
  const most = (nodes, value) => nodes.reduce((a, b) => (value(b) > value(a) ? b : a), nodes[0]);
  const own = run.colours.find((colour) => colour.score && colour.label === run.own);
  const sure = (node) => sureness(run, node);
  const story = (title, node, words) => node === undefined ? null : create(
    "button", { type: "button", class: "story", onclick: () => go({ node }) },
    strong(`${title}. `), words(className(run.said[node]), className(run.truth[node])),
  );
  const wrong = most(known.filter((node) => run.shapes[node] === 1), sure);
  const unseen = most(tested.filter((node) => run.shapes[node] === 2), sure);
  const doubted = own && most(tested, (node) => own.shades[node]);
  return [
    create("h2", {}, "Where is the model unsure, and why?"),
    create("p", {}, `Every dot is a ${one}, every line ${line}. ${run.title}: it gets `,
      strong(percent(right)), ` of the test ${many} right. `,
      strong(colourOf(run, state.colour).seen[Number(state.dark)])),
    create("p", {}, "Hover to see who is linked. Click a dot, or a point in any chart. Or start here:"),
    story("A confident mistake", wrong, (said, truth) =>
      `The model is ${percent(sure(wrong), 0)} sure that ${nameOf(graph, wrong)} belongs to ${said}. In truth it is ${truth}.`),
    story("A class never shown", unseen, (said, truth) =>
      `It takes ${nameOf(graph, unseen)}, of the unseen class ${truth}, for ${said}, ${percent(sure(unseen), 0)} sure.`),
    story("The greatest doubt", doubted, (said) =>
      `${own?.label}: ${short(scoreOf(own, own.shades[doubted]))}. It still says ${said}.`),
    create("p", { class: "words" }, run.about),
    create("p", { class: "words" }, `${run.facts}.`),
  ];
}

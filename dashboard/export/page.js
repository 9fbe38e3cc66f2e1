// The page: what is looked at stands in its address, and everything drawn follows from that.

const wait = document.getElementById("wait");
if (!globalThis.DecompressionStream) {
  wait.textContent = "This page needs a newer browser: Chromium 80, Firefox 113 or Safari 16.4.";
  return;
}
const content = JSON.parse(await inflated("document"));
const graph = parcel(decoded(content.parcel));
const runs = content.runs.map(openedRun);
const [views, panel] = [document.getElementById("views"), document.getElementById("node")];
const dusk = matchMedia("(prefers-color-scheme: dark)");
const state = { run: 0, rival: -1, node: -1, view: "map", colour: "", score: "", show: "all", dark: dusk.matches };
Object.assign(state, { group: null, lasso: null, range: null });
const FILTERS = {
  all: ["Everything", () => true],
  mistakes: ["Only mistakes", (run, node) => run.shapes[node] === 1],
  unseen: ["Only classes never shown", (run, node) => run.shapes[node] === 2],
  test: [`Only test ${content.noun[1]}`, (run, node) => run.test[node] === 1],
};

// Who is linked to whom: the neighbours of node i stand from first[i] to first[i + 1].
const linked = (() => {
  const n = graph.count;
  const first = new Uint32Array(n + 1);
  for (const end of graph.links) first[end + 1]++;
  for (let i = 0; i < n; i++) first[i + 1] += first[i];
  const [others, next] = [new Uint32Array(graph.links.length), first.slice()];
  for (let k = 0; k < graph.links.length; k += 2) {
    const [a, b] = [graph.links[k], graph.links[k + 1]];
    others[next[a]++] = b;
    others[next[b]++] = a;
  }
  return { first, others };
})();

function neighbours(node) {
  return [...linked.others.subarray(linked.first[node], linked.first[node + 1])];
}

// What a run is coloured by: as asked for, else by the first that it has.
const colourOf = (run, name) => run.colours.find((colour) => colour.name === name) ?? run.colours[0];
const classColour = (code) => colourOf(runs[state.run], "true").looks[0].colours[code];

function tabsOf(run) {
  return [
    ["map", "Map"],
    ["reliability", "Reliability"],
    run.views.unseen.length ? ["unseen", "Unseen classes"] : null,
    ["structure", "Structure"],
    runs.length > 1 ? ["compare", "Compare"] : null,
    ["about", "About"],
  ].filter(Boolean);
}

// One way for every change: what is shown follows, and so does the address.
function go(change) {
  const before = { ...state };
  Object.assign(state, change);
  const run = runs[state.run];
  if (!tabsOf(run).some(([name]) => name === state.view)) state.view = "map";
  if ("group" in change && !change.lasso) state.lasso = null;
  if (change.node >= 0) state.group = null;
  const changed = (...names) => names.some((name) => before[name] !== state[name]);
  write();
  if (changed("dark")) dress();
  if (changed("run", "view")) drawTabs();
  if (changed("run", "view", "score", "dark", "rival") || (state.view === "compare" && changed("colour"))) {
    drawView();
  } else {
    drawMaps();
    for (const figure of shown.figures) figure.ring();
    document.getElementById("under")?.replaceChildren(underEach() ?? "");
  }
  if (changed("run", "node", "group", "view", "dark", "colour")) drawPanel(changed("node", "group"));
}

function write() {
  const { run, node, view, colour } = state;
  const words = new URLSearchParams();
  if (node >= 0) words.set("node", graph.ids[node]);
  if (run) words.set("run", run + 1);
  if (view !== "map") words.set("view", view);
  if (colour) words.set("colour", colour);
  const hash = words.size ? `#${words}` : "#";
  if (hash === (location.hash || "#")) return;
  try {
    history.replaceState(null, "", hash);
  } catch {
    // Where a frame may not, the view just has no address.
  }
}

function read() {
  const words = new URLSearchParams(location.hash.slice(1));
  const run = Math.min(runs.length, Math.max(1, Number(words.get("run")) || 1)) - 1;
  const node = words.has("node") ? graph.ids.indexOf(words.get("node")) : -1;
  return { run, node, view: words.get("view") ?? "map", colour: words.get("colour") ?? "" };
}

function dress() {
  const root = document.documentElement;
  root.dataset.theme = state.dark ? "dark" : "light";
  const button = document.getElementById("theme");
  button.textContent = state.dark ? "☀" : "☾";
  button.title = state.dark ? "Light page" : "Dark page";
  button.setAttribute("aria-label", button.title);
}

function drawTabs() {
  const bar = document.getElementById("tabs");
  const tabs = tabsOf(runs[state.run]);
  const turn = { ArrowRight: 1, ArrowLeft: -1 };
  bar.replaceChildren(...tabs.map(([name, words], k) => made("button", {
    type: "button",
    role: "tab",
    id: `tab-${name}`,
    "aria-selected": name === state.view ? "true" : "false",
    "aria-controls": "view",
    tabindex: name === state.view ? 0 : -1,
    onclick: () => go({ view: name }),
    onkeydown: (event) => {
      if (!(event.key in turn)) return;
      const [next] = tabs[(k + turn[event.key] + tabs.length) % tabs.length];
      go({ view: next });
      document.getElementById(`tab-${next}`).focus();
    },
  }, words)));
  for (const input of document.querySelectorAll("#runs input")) input.checked = Number(input.value) === state.run;
}

let shown = { parts: [], figures: [], maps: [] };
const kept = new Map(); // maps that are on the page, by key

function drawView() {
  for (const figure of shown.figures) figure.dispose();
  const run = runs[state.run];
  const make = { map: mapView, compare: compareView, about: aboutView }[state.view];
  shown = make ? make(run) : chartView(state.view, run);
  for (const [key, map] of kept) {
    if (shown.maps.some((wanted) => wanted.host === map.host)) continue;
    map.dispose();
    kept.delete(key);
  }
  const parts = shown.parts.filter((part) => part !== null);
  views.replaceChildren(made("div", {
    id: "view", class: state.view, role: "tabpanel", "aria-labelledby": `tab-${state.view}`,
  }, ...parts));
  views.scrollTop = 0;
  drawMaps();
  for (const figure of shown.figures) figure.draw();
}

const stage = made("div", { class: "bup-map" }); // stays while one looks at charts

function mapView(run) {
  const offer = run.colours.map(({ name, label }) => [name, label]);
  const filters = Object.entries(FILTERS)
    .filter(([name]) => name !== "unseen" || run.views.unseen.length)
    .map(([name, [words]]) => [name, words]);
  const found = made("ul", { class: "found", hidden: true });
  const finder = made("input", {
    type: "search", placeholder: graph.titles ? "id or title" : "id", oninput: () => find(finder.value, found),
  });
  const bar = made("div", { class: "bar" },
    select("Colour by", offer, colourOf(run, state.colour).name, (colour) => go({ colour, range: null })),
    select("Show", filters, state.show, (show) => go({ show })),
    made("div", { class: "finding" }, made("label", { class: "choice" }, made("span", {}, "Find"), finder), found));
  const key = "map";
  return { parts: [bar, stage], figures: [], maps: [{ host: stage, run, key, like: run, together: false }] };
}

function find(words, list) {
  const sought = words.trim().toLowerCase();
  const fits = (node) => titleOf(node).toLowerCase().includes(sought);
  const nodes = sought ? [...graph.ids.keys()].filter(fits).slice(0, 12) : [];
  const exact = graph.ids.indexOf(words.trim());
  if (exact >= 0) nodes.unshift(exact);
  list.hidden = !sought;
  list.replaceChildren(...[...new Set(nodes)].map((node) => made("li", {}, made("button", {
    type: "button", class: "plainButton", onclick: () => { list.hidden = true; go({ node, group: null }); },
  }, titleOf(node)))));
  if (sought && !nodes.length) list.append(made("li", {}, "nothing found"));
}

function drawMaps() {
  for (const { host, run, key, like, together, colour = state.colour } of shown.maps) {
    if (!kept.has(key)) kept.set(key, { host, ...createMap(host) });
    const [here, there] = [run, like].map((one) => colourOf(one, colour));
    const filter = together ? "all" : state.show;
    const only = together ? null : state.group;
    const look = { ...there.looks[Number(state.dark)], shapes: here.looks[0].shapes };
    const layer = {
      shades: here.shades,
      said: run.said,
      truth: run.truth,
      shapes: run.shapes,
      shown: maskOf(run, filter, only),
    };
    const data = {
      ...look, key, together, of: "graph", graph: "graph", focus: null, at: null, address: false,
      layer: [runs.indexOf(run), here.name, filter, only?.number ?? ""].join("/"),
      node: state.node, range: together ? null : state.range, lasso: together ? null : state.lasso,
      hold: !together, face: "system-ui, sans-serif",
    };
    kept.get(key).update(data, graph, layer, (name, value) => heard(name, value));
  }
}

let groups = 0;

function maskOf(run, filter, group) {
  const mask = new Uint8Array(graph.count).fill(group && !state.lasso ? 0 : 1);
  if (group && !state.lasso) for (const node of group.nodes) mask[node] = 1;
  if (group) group.number ??= ++groups;
  const passes = FILTERS[filter][1];
  return mask.map((there, node) => (there && passes(run, node) ? 1 : 0));
}

// What a map tells: a click, a line drawn around some, a range dragged on its scale.
function heard(name, value) {
  if (name === "pick") go({ node: value, group: null });
  if (name === "range") go({ range: value.range });
  if (name !== "group") return;
  const mask = maskOf(runs[state.run], state.show, null);
  const flat = { places: graph.places, n: graph.count };
  const nodes = enclosed(flat, value, (node) => mask[node] === 1);
  if (nodes.length) go({ group: { title: "drawn around", nodes }, lasso: value });
}

function drawPanel(anew) {
  const run = runs[state.run];
  const parts = state.group ? groupPanel(run, state.group) : state.node >= 0 ? nodePanel(run, state.node) : welcome(run);
  panel.replaceChildren(...parts.filter((part) => part !== null));
  if (anew) panel.scrollTop = 0;
  if (anew && panel.getBoundingClientRect().top > innerHeight) below.hidden = state.node < 0 && !state.group;
  below.textContent = `${panel.querySelector("h2").textContent} ↓`;
}

// On a narrow page what is said of a node stands below what was clicked: a way there.
const below = document.getElementById("below");
below.addEventListener("click", () => panel.scrollIntoView());
new IntersectionObserver(([seen]) => {
  below.hidden = seen.isIntersecting || (state.node < 0 && !state.group);
}).observe(panel);

function aboutView() {
  const frame = '<iframe src="page.html" width="100%" height="700" title="..."></iframe>';
  const parts = [
    made("h2", {}, "About this page"),
    made("p", {}, `${content.size}. Everything is inside of this one file: it works without a server ` +
      "and without a network, and asks nobody for anything."),
    ...runs.flatMap((run) => [
      made("h3", {}, run.label),
      made("p", {}, strong(`${run.title}. `), run.about),
      made("p", {}, `${capital(run.facts)}. The command that trains it again:`),
      made("pre", { tabindex: 0 }, run.command),
    ]),
    made("h3", {}, "Links and frames"),
    made("p", {}, "The address says what is looked at: ", made("code", {}, `#node=${graph.ids[0]}`),
      ` after it opens a ${content.noun[0]}. Another page shows this one by`),
    made("pre", { tabindex: 0 }, frame),
    made("p", { class: "words" }, `Made on ${content.made} by ${content.versions}.`),
  ];
  return { parts, figures: [], maps: [] };
}

document.getElementById("size").textContent = `${content.size} · ${runs[0].facts}`;
const choices = document.getElementById("runs");
choices.hidden = runs.length < 2;
choices.append(...runs.map((run, k) => made("label", {}, made("input", {
  type: "radio", name: "run", value: k, onchange: () => go({ run: k }),
}), made("span", {}, run.label))));
document.getElementById("theme").addEventListener("click", () => go({ dark: !state.dark }));
dusk.addEventListener("change", () => go({ dark: dusk.matches }));
globalThis.addEventListener("hashchange", () => go(read()));
wait.remove();
Object.assign(state, read());
if (!tabsOf(runs[state.run]).some(([name]) => name === state.view)) state.view = "map";
dress();
drawTabs();
drawView();
drawPanel(true);
document.documentElement.dataset.ready = "true";

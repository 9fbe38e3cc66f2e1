// Draws the page from its state, which is also in the address.

import { byId } from "./words.js";

import { followCell, tellCell } from "./around.js";
import { createMap } from "../components/map/map.js";
import { nodesInPolygon } from "../components/map/scene.js";
import { create } from "../components/shared/elements.js";
import { chartView } from "./charts.js";
import { compareView, pickedNodeTable } from "./compare.js";
import { groupPanel, nodePanel, titleOf, welcome } from "./inspector.js";
import {
  FILTERS,
  colourOf,
  content,
  dusk,
  fetchFor,
  first,
  go,
  graph,
  onChange,
  read,
  repairView,
  runs,
  sayLost,
  state,
  tabsOf,
  tiles,
} from "./state.js";
import { capital, select, strong } from "./words.js";

const [views, panel] = [byId("views"), byId("node")];

function applyTheme() {
  const root = document.documentElement;
  root.dataset.theme = state.dark ? "dark" : "light";
  const button = byId("theme");
  button.textContent = state.dark ? "☀" : "☾";
  button.title = state.dark ? "Light page" : "Dark page";
  button.setAttribute("aria-label", button.title);
}

function drawTabs() {
  const bar = byId("tabs");
  const tabs = tabsOf(runs[state.run]);
  const turn = { ArrowRight: 1, ArrowLeft: -1 };
  bar.replaceChildren(...tabs.map(([name, words], k) => create("button", {
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
      byId(`tab-${next}`).focus();
    },
  }, words)));
  for (const input of byId("runs").querySelectorAll("input")) input.checked = Number(input.value) === state.run;
}

/** @type {{ parts: any[], figures: any[], maps: any[] }} */
let view = { parts: [], figures: [], maps: [] };
const maps = new Map(); // maps that are on the page, by key

function drawView() {
  for (const figure of view.figures) figure.dispose();
  const run = runs[state.run];
  const make = { map: mapView, compare: compareView, about: aboutView }[state.view];
  view = make ? make(run) : chartView(state.view, run);
  for (const [key, map] of maps) {
    if (view.maps.some((wanted) => wanted.host === map.host)) continue;
    map.dispose();
    maps.delete(key);
  }
  const parts = view.parts.filter((part) => part !== null);
  views.replaceChildren(create("div", {
    id: "view", class: state.view, role: "tabpanel", "aria-labelledby": `tab-${state.view}`,
  }, ...parts));
  views.scrollTop = 0;
  drawMaps();
  for (const figure of view.figures) figure.draw();
}

const stage = create("div", { class: "bup-map" }); // stays while one looks at charts

function mapView(run) {
  const offer = run.colours.map(({ name, label }) => [name, label]);
  const filters = Object.entries(FILTERS)
    .filter(([name]) => name !== "unseen" || run.shapes.includes(2))
    .map(([name, [words]]) => [name, words]);
  const found = create("ul", { class: "found", hidden: true });
  const finder = create("input", {
    type: "search", placeholder: graph.titles && !tiles ? "a name, or a word" : "id", oninput: () => find(finder.value, found),
  });
  const bar = create("div", { class: "bar" },
    select("Colour by", offer, colourOf(run, state.colour).name, (colour) => go({ colour, range: null })),
    select("Show", filters, state.show, (show) => go({ show })),
    create("div", { class: "finding" }, create("label", { class: "choice" }, create("span", {}, "Find"), finder), found));
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
  list.replaceChildren(...[...new Set(nodes)].map((node) => create("li", {}, create("button", {
    type: "button", class: "plainButton", onclick: () => { list.hidden = true; go({ node, group: null }); },
  }, titleOf(node)))));
  if (sought && !nodes.length) list.append(create("li", {}, "nothing found"));
}

const parts = new Map(); // what a map shows of a large graph, by its key

function drawMaps() {
  for (const { host, run, key, like, together, colour = state.colour } of view.maps) {
    if (!maps.has(key)) maps.set(key, { host, ...createMap(host) });
    const [here, there] = [run, like].map((one) => colourOf(one, colour));
    const filter = together ? "all" : state.show;
    const only = together ? null : state.group;
    const part = parts.get(key) ?? first;
    const { numbers } = part;
    const of = (values) => (numbers ? values.constructor.from(numbers, (node) => values[node]) : values);
    const look = { ...there.looks[Number(state.dark)], shapes: here.looks[0].shapes };
    const layer = {
      shades: of(here.shades),
      said: of(run.said),
      truth: of(run.truth),
      shapes: of(run.shapes),
      shown: of(maskOf(run, filter, only)),
    };
    const data = {
      ...look, key, together, of: "graph", graph: part.file ?? "graph", focus: (part.thinned && tiles?.focus(state.node)) ?? null, at: null, address: false,
      layer: [runs.indexOf(run), here.name, filter, only?.number ?? ""].join("/"),
      node: state.node, range: together ? null : state.range, lasso: together ? null : state.lasso,
      hold: !together, face: "system-ui, sans-serif",
    };
    maps.get(key).update(data, part, layer, (name, value) => onMapMessage(key, name, value));
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

// Messages of a map: a click, a lasso, a range dragged on its scale, a view of which there is more.
function onMapMessage(key, name, value) {
  if (name === "window") showWindow(key, value);
  if (name === "pick") go({ node: value, group: null });
  if (name === "range") go({ range: value.range });
  if (name !== "group") return;
  const mask = maskOf(runs[state.run], state.show, null);
  const { places, count, numbers } = parts.get(key) ?? first;
  const number = (i) => (numbers ? numbers[i] : i);
  const nodes = nodesInPolygon({ places, n: count }, value, (i) => mask[number(i)] === 1).map(number);
  if (nodes.length) go({ group: { title: "drawn around", nodes }, lasso: value });
}

const looking = new Map(); // the last view that was asked for, by map

async function showWindow(key, view) {
  looking.set(key, view);
  const part = await tiles?.partFor(view).catch(sayLost);
  if (!part || looking.get(key) !== view || !maps.has(key)) return;
  parts.set(key, part);
  drawMaps();
}

onChange((changed) => {
  if (changed("dark")) applyTheme();
  if (changed("run", "view")) drawTabs();
  if (changed("run", "view", "score", "dark", "rival") || (state.view === "compare" && changed("colour"))) {
    drawView();
  } else {
    drawMaps();
    for (const figure of view.figures) figure.ring();
    byId("under")?.replaceChildren(pickedNodeTable() ?? "");
  }
  if (changed("run", "node", "group", "view", "dark", "colour")) drawPanel(changed("node", "group"));
  tellCell();
});

function drawPanel(anew) {
  const run = runs[state.run];
  const parts = state.group ? groupPanel(run, state.group) : state.node >= 0 ? nodePanel(run, state.node) : welcome(run);
  panel.replaceChildren(...parts.filter((part) => part !== null));
  if (anew) panel.scrollTop = 0;
  if (anew && panel.getBoundingClientRect().top > innerHeight) below.hidden = state.node < 0 && !state.group;
  below.textContent = `${panel.querySelector("h2").textContent} ↓`;
}

// On a narrow page the panel is below the view: a button that leads there.
const below = byId("below");
below.addEventListener("click", () => panel.scrollIntoView());
new IntersectionObserver(([seen]) => {
  below.hidden = seen.isIntersecting || (state.node < 0 && !state.group);
}).observe(panel);

const WHERE = {
  file: "Everything is inside of this one file: it works without a server and without a network, " +
    "and asks nobody for anything.",
  cell: "Everything is inside of this cell: it works without a server and without a network.",
  site: "Everything was computed beforehand: the host of this page only hands out files.",
  tiles: "Everything was computed beforehand: the host of this page only hands out files. The map draws a part " +
    "of this large graph and fetches more where one zooms in. A lasso takes only what is drawn, Find knows ids only, " +
    "bars of charts open no list; there are no intervals, and no charts of how doubt goes with the place in the graph.",
};

function aboutView() {
  const frame = '<iframe src="page.html" width="100%" height="700" title="..."></iframe>';
  const parts = [
    create("h2", {}, "About this page"),
    create("p", {}, `${content.size}. ${WHERE[content.kind]}`),
    ...runs.flatMap((run) => [
      create("h3", {}, run.label),
      create("p", {}, strong(`${run.title}. `), run.about),
      create("p", {}, `${capital(run.facts)}. The command that trains it again:`),
      create("pre", { tabindex: 0 }, run.command),
    ]),
    ...(content.kind === "cell" ? [] : [
      create("h3", {}, "Links and frames"),
      create("p", {}, "The address says what is looked at: ", create("code", {}, `#node=${graph.ids[0]}`),
        ` after it opens a ${content.noun[0]}. Another page shows this one by`),
      create("pre", { tabindex: 0 }, frame),
    ]),
    create("p", { class: "words" }, `Made on ${content.made} by ${content.versions}.`),
  ];
  return { parts, figures: [], maps: [] };
}

byId("size").textContent = `${content.size} · ${runs[0].facts}`;
const choices = byId("runs");
choices.hidden = runs.length < 2;
choices.append(...runs.map((run, k) => create("label", {}, create("input", {
  type: "radio", name: "run", value: k, onchange: () => go({ run: k }),
}), create("span", {}, run.label))));
byId("theme").addEventListener("click", () => go({ dark: !state.dark }));
dusk.addEventListener("change", () => go({ dark: dusk.matches }));
globalThis.addEventListener("hashchange", () => go(read()));
Object.assign(state, read());
repairView();
await fetchFor(state);
byId("wait").remove();
applyTheme();
drawTabs();
drawView();
drawPanel(true);
followCell();
document.documentElement.dataset.ready = "true";

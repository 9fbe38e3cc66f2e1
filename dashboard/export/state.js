// The data of the page, its state, and the address that holds the state.

import { byId } from "./words.js";

import { openParcel } from "../components/map/parcels.js";
import { adjacency } from "../components/map/scene.js";
import { decodeBase64, inflate, openRun } from "./decode.js";
import { openTiles } from "./tiles.js";

if (!globalThis.DecompressionStream) {
  const words = "This page needs a newer browser: Chromium 80, Firefox 113 or Safari 16.4.";
  byId("wait").textContent = words;
  throw new Error(words);
}
export const content = JSON.parse(await inflate("document"));
export const first = openParcel(decodeBase64(content.parcel)); // the part of the graph in the first picture
export const runs = content.runs.map(openRun);
export const tiles = content.tiles ? await openTiles(content, first, runs) : null;
export const graph = tiles?.graph ?? first;
export const dusk = matchMedia("(prefers-color-scheme: dark)");
/** @type {Record<string, any>} */
export const state = { run: 0, rival: -1, node: -1, view: "map", colour: "", score: "", show: "all", dark: dusk.matches };
Object.assign(state, { group: null, lasso: null, range: null });
export const FILTERS = {
  all: ["Everything", () => true],
  mistakes: ["Only mistakes", (run, node) => run.shapes[node] === 1],
  unseen: ["Only classes never shown", (run, node) => run.shapes[node] === 2],
  test: [`Only test ${content.noun[1]}`, (run, node) => run.test[node] === 1],
};

const neighbourList = tiles?.neighbours ?? adjacency(first.links, first.count);
export const neighbours = (node) => [...neighbourList(node)];

// A colouring of a run by name, else its first.
export const colourOf = (run, name) => run.colours.find((colour) => colour.name === name) ?? run.colours[0];
export const classColour = (code) => colourOf(runs[state.run], "true").looks[0].colours[code];

const CHARTS = { reliability: "Reliability", unseen: "Unseen classes", structure: "Structure" };

export function tabsOf(run) {
  const tabs = [
    ["map", "Map"],
    ...Object.entries(CHARTS).filter(([name]) => run.views[name].length),
    runs.length > 1 ? ["compare", "Compare"] : null,
    ["about", "About"],
  ];
  return /** @type {[name: string, words: string][]} */ (tabs.filter(Boolean));
}

/** @type {(changed: (...names: string[]) => boolean) => void} */
let redraw = () => {};

// `listener` redraws the page after a change; `changed(...names)` is whether one of these differs.
export function onChange(listener) {
  redraw = listener;
}

// Fetches what a state of a large graph shows; null if there is nothing to fetch.
/** @param {Record<string, any>} shown a state */
export function fetchFor({ run, node, view, colour }) {
  if (!tiles) return null;
  const compared = view === "compare";
  const wanted = (one) => one.colours.filter((other) =>
    other === colourOf(one, colour) || other.label === one.own || (compared && other.name === "confidence"));
  return tiles.fetch(node, (compared ? runs : [runs[run]]).flatMap(wanted));
}

export function sayLost() {
  byId("size").textContent = "A part of this page could not be loaded: try again, or reload it.";
}

let waiting = {};

// Every change of the state goes through here; it redraws the page and writes the address, once what
// is to be seen is there.
export function go(change) {
  Object.assign(waiting, change);
  const asked = waiting;
  const fetched = fetchFor({ ...state, ...waiting });
  if (!fetched) {
    waiting = {};
    return show(asked);
  }
  fetched.then(() => asked === waiting && go({}), () => {
    waiting = {};
    sayLost();
  });
}

function show(change) {
  const before = { ...state };
  Object.assign(state, change);
  repairView();
  if ("group" in change && !change.lasso) state.lasso = null;
  if (change.node >= 0) state.group = null;
  write();
  redraw((...names) => names.some((name) => before[name] !== state[name]));
}

// Shows the map if the run does not have the view.
export function repairView() {
  if (!tabsOf(runs[state.run]).some(([name]) => name === state.view)) state.view = "map";
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
    // A frame may not be allowed to: then the view has no address.
  }
}

export function read() {
  const words = new URLSearchParams(location.hash.slice(1));
  const run = Math.min(runs.length, Math.max(1, Number(words.get("run")) || 1)) - 1;
  const node = words.has("node") ? graph.ids.indexOf(words.get("node")) : -1;
  return { run, node, view: words.get("view") ?? "map", colour: words.get("colour") ?? "" };
}

// The view that compares runs: numbers, charts, two maps, and the nodes on which two runs disagree.

import { create } from "../components/shared/elements.js";
import { percent, percentRange } from "../components/shared/numbers.js";
import { chart } from "./charts.js";
import { className, classRow, headingOf, shareBelow, scoreOf, span, sureness, titleOf } from "./inspector.js";
import { content, go, runs, state } from "./state.js";
import { capital, counted, select, short, strong, table } from "./words.js";

export function compareView() {
  const { head, rows, words, charts } = content.compare;
  const [first, second] = comparedRuns();
  const figures = charts.map(chart);
  const both = first.colours.filter(({ name }) => second.colours.some((other) => other.name === name));
  const colour = both.find(({ name }) => name === state.colour) ?? both.find(({ name }) => name === "confidence");
  const offer = both.map(({ name, label }) => [name, label]);
  const others = runs.map((run, k) => [`${k}`, run.label]).filter(([k]) => Number(k) !== state.run);
  const maps = [first, second].map((run, k) => {
    const host = create("div", { class: "bup-map" });
    return { host, run, colour: colour.name, key: `side ${k}`, like: first, together: true };
  });
  const sides = maps.map(({ host, run }) => create("section", { "aria-label": run.label }, create("h4", {}, run.label), host));
  const differing = disagreements(first, second);
  const groups = [...new Set(rows.map(([group]) => group))];
  const body = groups.flatMap((group) => [
    [strong(group), ...head.slice(2).map(() => "")],
    ...rows.filter(([of]) => of === group).map(([, name, ...cells]) => [name, ...cells.map(keepTogether)]),
  ]);
  const parts = [
    create("h2", {}, "Which method knows best what it does not know?"),
    table({ class: "plain metrics", "aria-label": "The numbers" }, ["", ...head.slice(2)], body),
    create("p", { class: "words" }, words),
    create("div", { id: "under" }, pickedNodeTable()),
    create("div", { class: "charts" }, ...figures),
    create("h3", {}, `Two methods, ${content.noun[0]} by ${content.noun[0]}`),
    create("div", { class: "bar" },
      select("Colour both by", offer, colour.name, (name) => go({ colour: name })),
      others.length > 1 ? select("Beside it", others, `${runs.indexOf(second)}`, (k) => go({ rival: Number(k) })) : null),
    create("div", { class: "sides" }, ...sides),
    create("p", { class: "words" }, "On one colour scale; moving one map moves the other."),
    create("h3", {}, "Where they disagree"),
    create("p", { class: "words" }, `${counted(differing.length, content.noun)} with different answers; ` +
      "those of which both are surest come first."),
    disagreementTable(first, second, differing.slice(0, 100)),
  ];
  return { parts, figures, maps };
}

// Lets a cell break only before its interval.
function keepTogether(cell) {
  return cell.replace(/ (?!\[)/g, "\u00a0");
}

// The chosen run, and the run that it is compared with.
function comparedRuns() {
  const first = runs[state.run];
  const second = runs[state.rival];
  return [first, second && second !== first ? second : runs.find((run) => run !== first)];
}

function disagreements(first, second) {
  const sure = (node) => Math.min(sureness(first, node), sureness(second, node));
  const found = [...first.said.keys()].filter((node) => first.said[node] !== second.said[node]);
  return found.map((node) => [sure(node), node]).sort(([a], [b]) => b - a).map(([, node]) => node);
}

function disagreementTable(first, second, nodes) {
  const says = (run, node) => `${className(run.said[node])}, ${percent(sureness(run, node), 0)}`;
  const rows = nodes.map((node) => [
    create("button", { type: "button", class: "plainButton", onclick: () => go({ node, group: null }) }, titleOf(node)),
    says(first, node),
    says(second, node),
    className(first.truth[node]) + (first.shapes[node] === 2 ? " (never shown)" : ""),
  ]);
  const head = [capital(content.noun[0]), `${first.label} says`, `${second.label} says`, "In truth"];
  return table({ class: "plain", "aria-label": "Where they disagree" }, head, rows);
}

// The answers of all runs for the picked node.
export function pickedNodeTable() {
  const { node } = state;
  if (node < 0) return null;
  const rows = runs.map((run) => {
    const width = run.answers.length;
    const k = run.answers.indexOf(run.said[node]);
    const share = classRow(run.probs, node, width)[k];
    const bar = create("i", { class: "bar", style: `width:${100 * share}%` });
    const ends = run.low && [run.low, run.high].map((values) => classRow(values, node, width)[k]);
    const mark = { 0: run.truth[node] < 0 ? "" : "✓ ", 1: "✕ ", 2: "◆ " }[run.shapes[node]];
    const own = run.colours.find((colour) => colour.score && colour.label === run.own);
    const plot = create("div", { class: "plot" }, create("div", {}, bar, ends ? span(...ends.map((end) => 100 * end)) : null));
    const interval = ends ? percentRange(ends[0], ends[1]) : "not given";
    const doubt = own ? `${own.label} ${short(scoreOf(own, own.shades[node]))}, above ` +
      `${Math.floor(100 * shareBelow(own.ranks, own.shades[node]))}%` : "";
    return [run.label, `${mark}${className(run.said[node])}`, percent(share, 0), plot, interval, doubt];
  });
  const name = `${headingOf(node)} under each method`;
  const head = ["Method", "Answer", "Confidence", "", "90% interval", "Uncertainty"];
  return create("section", { "aria-label": name }, create("h3", {}, name),
    table({ class: "verdicts", "aria-label": name }, head, rows));
}

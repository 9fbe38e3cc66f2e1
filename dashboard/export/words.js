// Text, tables and drop-down lists.

import { create } from "../components/shared/elements.js";

/** @returns {any} the element, which page.html has */
export const byId = (id) => document.getElementById(id);
export const strong = (text) => create("b", {}, text);
export const short = (value) =>
  !Number.isFinite(value) ? "–" :
  value && Math.abs(value) < 1e-4 ? value.toExponential(1) : `${Number(value.toPrecision(3))}`;
export const counted = (n, [one, many]) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
export const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

export function select(label, options, chosen, act) {
  const box = create("select", { onchange: () => act(box.value) });
  for (const [value, words] of options) {
    box.append(create("option", { value, selected: value === chosen }, words));
  }
  return create("label", { class: "choice" }, create("span", {}, label), box);
}

// A table; the first cell of each row is its name.
export function table(about, head, rows) {
  const cells = (row) =>
    row.map((cell, k) => create(k ? "td" : "th", k ? {} : { scope: "row" }, cell));
  return create(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": about["aria-label"] },
    create(
      "table",
      about,
      create("thead", {}, create("tr", {}, ...head.map((words) => create("th", { scope: "col" }, words)))),
      create("tbody", {}, ...rows.map((row) => create("tr", {}, ...cells(row)))),
    ),
  );
}

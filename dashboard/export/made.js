// Elements: text is always text, whatever the data call themselves.

function made(tag, about = {}, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(about)) {
    if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
    else if (value === true) found.setAttribute(name, "");
    else if (value !== false && value !== null) found.setAttribute(name, value);
  }
  found.append(...children.filter((child) => child !== null && child !== undefined));
  return found;
}

const strong = (text) => made("b", {}, text);
const percent = (share) =>
  share > 0.995 && share < 1 ? "over 99%" : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}%`;
const short = (value) =>
  !Number.isFinite(value) ? "–" :
  value && Math.abs(value) < 1e-4 ? value.toExponential(1) : `${Number(value.toPrecision(3))}`;
const counted = (n, [one, many]) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

function select(label, options, chosen, act) {
  const box = made("select", { onchange: () => act(box.value) });
  for (const [value, words] of options) {
    box.append(made("option", { value, selected: value === chosen }, words));
  }
  return made("label", { class: "choice" }, made("span", {}, label), box);
}

// Rows of a table: the first cell of each is its name.
function table(about, head, rows) {
  const cells = (row) =>
    row.map((cell, k) => made(k ? "td" : "th", k ? {} : { scope: "row" }, cell));
  return made(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": about["aria-label"] },
    made(
      "table",
      about,
      made("thead", {}, made("tr", {}, ...head.map((words) => made("th", { scope: "col" }, words)))),
      made("tbody", {}, ...rows.map((row) => made("tr", {}, ...cells(row)))),
    ),
  );
}

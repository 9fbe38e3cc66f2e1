// Several runs beside each other: numbers, charts, two maps, and where they disagree.

function compareView() {
  const { head, rows, words, charts } = content.compare;
  const [first, second] = pair();
  const figures = charts.map(chart);
  const both = first.colours.filter(({ name }) => second.colours.some((other) => other.name === name));
  const colour = both.find(({ name }) => name === state.colour) ?? both.find(({ name }) => name === "confidence");
  const offer = both.map(({ name, label }) => [name, label]);
  const others = runs.map((run, k) => [`${k}`, run.label]).filter(([k]) => Number(k) !== state.run);
  const maps = [first, second].map((run, k) => {
    const host = made("div", { class: "bup-map" });
    return { host, run, colour: colour.name, key: `side ${k}`, like: first, together: true };
  });
  const sides = maps.map(({ host, run }) => made("section", { "aria-label": run.label }, made("h4", {}, run.label), host));
  const differing = disagreements(first, second);
  const groups = [...new Set(rows.map(([group]) => group))];
  const body = groups.flatMap((group) => [
    [strong(group), ...head.slice(2).map(() => "")],
    ...rows.filter(([of]) => of === group).map(([, name, ...cells]) => [name, ...cells.map(unbroken)]),
  ]);
  const parts = [
    made("h2", {}, "Which method knows best what it does not know?"),
    table({ class: "plain metrics", "aria-label": "The numbers" }, ["", ...head.slice(2)], body),
    made("p", { class: "words" }, words),
    made("div", { id: "under" }, underEach()),
    made("div", { class: "charts" }, ...figures),
    made("h3", {}, `Two methods, ${content.noun[0]} by ${content.noun[0]}`),
    made("div", { class: "bar" },
      select("Colour both by", offer, colour.name, (name) => go({ colour: name })),
      others.length > 1 ? select("Beside it", others, `${runs.indexOf(second)}`, (k) => go({ rival: Number(k) })) : null),
    made("div", { class: "sides" }, ...sides),
    made("p", { class: "words" }, "On one colour scale; moving one map moves the other."),
    made("h3", {}, "Where they disagree"),
    made("p", { class: "words" }, `${counted(differing.length, content.noun)} with different answers; ` +
      "those of which both are surest come first."),
    disagreementTable(first, second, differing.slice(0, 100)),
  ];
  return { parts, figures, maps };
}

// Where there is little room, an interval goes below its number, whole.
function unbroken(cell) {
  return cell.replace(/ (?!\[)/g, "\u00a0");
}

// The chosen run, and the one beside it.
function pair() {
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
  const says = (run, node) => `${className(run.said[node])}, ${percent(sureness(run, node))}`;
  const rows = nodes.map((node) => [
    made("button", { type: "button", class: "plainButton", onclick: () => go({ node, group: null }) }, titleOf(node)),
    says(first, node),
    says(second, node),
    className(first.truth[node]) + (first.shapes[node] === 2 ? " (never shown)" : ""),
  ]);
  const head = [capital(content.noun[0]), `${first.label} says`, `${second.label} says`, "In truth"];
  return table({ class: "plain", "aria-label": "Where they disagree" }, head, rows);
}

// The picked node under every method.
function underEach() {
  const { node } = state;
  if (node < 0) return null;
  const rows = runs.map((run) => {
    const width = run.answers.length;
    const k = run.answers.indexOf(run.said[node]);
    const share = row(run.probs, node, width)[k];
    const bar = made("i", { class: "bar", style: `width:${100 * share}%` });
    const ends = run.low && [run.low, run.high].map((values) => 100 * row(values, node, width)[k]);
    const mark = { 0: run.truth[node] < 0 ? "" : "✓ ", 1: "✕ ", 2: "◆ " }[run.shapes[node]];
    const own = run.colours.find((colour) => colour.score && colour.label === run.own);
    const plot = made("div", { class: "plot" }, made("div", {}, bar, ends ? span(...ends) : null));
    const interval = ends ? `${ends[0].toFixed(1)}% to ${ends[1].toFixed(1)}%` : "not given";
    const doubt = own ? `${own.label} ${short(turned(own, own.shades[node]))}, above ` +
      `${Math.floor(100 * shareBelow(own.ranks, own.shades[node]))}%` : "";
    return [run.label, `${mark}${className(run.said[node])}`, percent(share), plot, interval, doubt];
  });
  const name = `${capital(content.noun[0])} ${titleOf(node)} under each method`;
  const head = ["Method", "Answer", "Confidence", "", "90% interval", "Uncertainty"];
  return made("section", { "aria-label": name }, made("h3", {}, name),
    table({ class: "verdicts", "aria-label": name }, head, rows));
}

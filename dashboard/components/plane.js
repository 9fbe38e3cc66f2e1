const OFTEN = 150; // milliseconds between two messages while dragging
const STEP = 0.04; // of an arrow key
const views = new WeakMap();

// Called at first, and again whenever the data or the theme change.
export default function ({ data, parentElement, setTriggerValue }) {
  const frame = parentElement.querySelector(".plane");
  const view = views.get(frame) ?? { frame, sent: 0 };
  views.set(frame, view);
  view.data = data;
  view.send = (place) => setTriggerValue("place", place);
  frame.style.maxHeight = `${data.height}px`;
  if (!view.dragging) view.at = data.group;
  draw(view);
  explain(parentElement.querySelector(".key"), data);
}

// What the colours of the ground mean.
function explain(key, { palette, meaning }) {
  const bar = document.createElement("i");
  bar.style.background = `linear-gradient(to right, ${palette.join()})`;
  key.replaceChildren(bar, ` ${meaning}`);
}

function draw(view) {
  const { ground, points, kinds } = view.data;
  const focused = view.frame.getRootNode().activeElement?.classList?.contains("handle");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 1000 660");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("shape-rendering", "crispEdges");
  const [wide, high] = [1000 / ground[0].length, 660 / ground.length];
  ground.forEach((row, r) =>
    row.forEach((fill, c) =>
      add(svg, "rect", { x: c * wide, y: r * high, width: wide + 0.6, height: high + 0.6, fill }),
    ),
  );
  // While the group is dragged its points go along; the ground follows when the server has answered.
  const [dx, dy] = [view.at[0] - view.data.group[0], view.at[1] - view.data.group[1]];
  points.forEach(([x, y], i) => {
    const moves = kinds[i] === "stranger";
    const at = { cx: 1000 * (x + (moves ? dx : 0)), cy: 660 * (y + (moves ? dy : 0)) };
    add(svg, "circle", { class: `point ${kinds[i]}`, r: kinds[i].includes("labelled") ? 8 : 5, ...at });
  });
  view.data.rings.forEach((ring, i) => {
    const points = ring.map(([x, y]) => `${1000 * x},${660 * y}`).join(" ");
    add(svg, "polygon", { class: i === view.data.rings.length - 1 ? "ring large" : "ring", points });
  });
  for (const [words, x, y] of view.data.labels) {
    const at = { x: Math.min(930, Math.max(70, 1000 * x)), y: Math.min(645, Math.max(30, 660 * y)) };
    add(svg, "text", { class: "label", ...at }).textContent = words;
  }
  const handle = add(svg, "g", {
    class: "handle",
    tabindex: 0,
    role: "slider",
    "aria-label": `${view.data.handle}, or move with the arrow keys`,
    "aria-valuetext": `${Math.round(100 * view.at[0])}% right, ${Math.round(100 * view.at[1])}% down`,
    transform: `translate(${1000 * view.at[0]} ${660 * view.at[1]})`,
  });
  add(handle, "circle", { r: 58 });
  add(handle, "text", { y: view.at[1] < 0.2 ? 84 : -66 }).textContent = view.data.handle;
  handle.addEventListener("pointerdown", (event) => drag(view, event));
  handle.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    move(view, view.at[0] + STEP * step[0], view.at[1] + STEP * step[1], true);
  });
  view.frame.replaceChildren(svg);
  if (focused) handle.focus();
}

function move(view, x, y, now) {
  view.at = [x, y].map((v) => Math.min(0.94, Math.max(0.06, v)));
  draw(view);
  if (now || Date.now() - view.sent > OFTEN) {
    view.sent = Date.now();
    view.send({ x: view.at[0], y: view.at[1] });
  }
}

function drag(view, down) {
  if (down.button) return;
  down.preventDefault();
  view.dragging = true;
  const go = (event, now) => {
    const box = view.frame.getBoundingClientRect();
    move(view, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height, now);
  };
  const onMove = (event) => go(event, false);
  const onUp = (event) => {
    window.removeEventListener("pointermove", onMove);
    window.removeEventListener("pointerup", onUp);
    window.removeEventListener("pointercancel", onUp);
    view.dragging = false;
    go(event, true);
  };
  window.addEventListener("pointermove", onMove);
  window.addEventListener("pointerup", onUp);
  window.addEventListener("pointercancel", onUp);
}

function add(parent, name, attributes = {}) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return parent.appendChild(element);
}

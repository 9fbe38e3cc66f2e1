import { svgElement } from "../shared/elements.js";

const OFTEN = 150; // milliseconds between two messages while dragging
const STEP = 0.04; // of an arrow key
const GRIP = 34; // pixels: the radius of what is dragged
const views = new WeakMap();

// Streamlit calls this first, and again when the data or the theme change.
export default function ({ data, parentElement, setTriggerValue }) {
  const frame = parentElement.querySelector(".plane");
  const view = views.get(frame) ?? { frame, sent: 0 };
  views.set(frame, view);
  view.data = data;
  view.send = (place) => setTriggerValue("place", place);
  frame.style.maxHeight = `${data.height}px`;
  if (!view.dragging) view.at = data.group;
  draw(view);
  view.resized ??= new ResizeObserver(() => draw(view));
  view.resized.observe(frame);
  explain(parentElement.querySelector(".key"), data);
}

// Explains the colours of the ground.
function explain(key, { palette, meaning }) {
  const bar = document.createElement("i");
  bar.style.background = `linear-gradient(to right, ${palette.join()})`;
  key.replaceChildren(bar, ` ${meaning}`);
}

// Draws in pixels, so that dots are round and text is legible in a frame of any shape.
function draw(view) {
  const { ground, points, kinds } = view.data;
  const { clientWidth: width, clientHeight: height } = view.frame;
  if (!width) return; // not on the screen yet
  const focused = view.frame.getRootNode().activeElement?.classList?.contains("handle");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("shape-rendering", "crispEdges");
  const [wide, high] = [width / ground[0].length, height / ground.length];
  ground.forEach((row, r) =>
    row.forEach((fill, c) =>
      svgElement(svg, "rect", { x: c * wide, y: r * high, width: wide + 0.6, height: high + 0.6, fill }),
    ),
  );
  // During a drag the points of the group move at once; the ground follows when the server answers.
  const [dx, dy] = [view.at[0] - view.data.group[0], view.at[1] - view.data.group[1]];
  points.forEach(([x, y], i) => {
    const moves = kinds[i] === "stranger";
    const at = { cx: width * (x + (moves ? dx : 0)), cy: height * (y + (moves ? dy : 0)) };
    svgElement(svg, "circle", { class: `point ${kinds[i]}`, r: kinds[i].includes("labelled") ? 5 : 3, ...at });
  });
  view.data.rings.forEach((ring, i) => {
    const points = ring.map(([x, y]) => `${width * x},${height * y}`).join(" ");
    svgElement(svg, "polygon", { class: i === view.data.rings.length - 1 ? "ring large" : "ring", points });
  });
  for (const [words, x, y] of view.data.labels) {
    const at = { x: within(width, x, 36), y: within(height, y, 16) };
    svgElement(svg, "text", { class: "label", ...at }).textContent = words;
  }
  const handle = svgElement(svg, "g", {
    class: "handle",
    tabindex: 0,
    role: "slider",
    "aria-label": `${view.data.handle}, or move with the arrow keys`,
    "aria-valuetext": `${Math.round(100 * view.at[0])}% right, ${Math.round(100 * view.at[1])}% down`,
    transform: `translate(${width * view.at[0]} ${height * view.at[1]})`,
  });
  svgElement(handle, "circle", { r: GRIP });
  const words = { x: within(width, view.at[0], 64) - width * view.at[0] };
  words.y = height * view.at[1] < 2 * GRIP ? GRIP + 16 : -GRIP - 6;
  svgElement(handle, "text", words).textContent = view.data.handle;
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

// A place from 0 to 1 in pixels, at least so far from either edge.
function within(length, place, margin) {
  return Math.min(length - margin, Math.max(margin, length * place));
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

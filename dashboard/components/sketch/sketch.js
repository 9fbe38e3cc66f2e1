import { svgElement } from "../shared/elements.js";

const CORE = 13; // radius of a node's disc
const PER_STD = 12; // width of its ring, in pixels per standard deviation
const MARGIN = 46; // around the outermost places
const STILL = 5; // pixels that a click may move
const views = new WeakMap();

// Streamlit calls this first, and again when the data or the theme change.
export default function ({ data, parentElement, setTriggerValue }) {
  const frame = parentElement.querySelector(".sketch");
  const view = views.get(frame) ?? { frame, svg: frame.querySelector("svg"), moved: new Map() };
  if (!views.has(frame)) {
    views.set(frame, view);
    view.watcher = new ResizeObserver(() => draw(view));
    view.watcher.observe(frame);
  }
  if (view.data?.start !== data.start) view.moved.clear();
  view.data = data;
  view.send = (edit) => setTriggerValue("edit", edit);
  frame.style.height = `${data.height}px`;
  draw(view);
  return () => {
    view.watcher.disconnect();
    views.delete(frame);
  };
}

function draw(view) {
  const { svg, data } = view;
  const focus = svg.getRootNode().activeElement?.dataset?.name;
  const at = data.spots.map((spot) => place(view, spot));
  svg.replaceChildren();
  for (const { a, b, change } of data.lines) {
    const kind = change === null ? "" : change > 0 ? "adds" : "takes";
    const link = svgElement(svg, "g", { class: "link" });
    const width = change === null ? 2 : 2 + Math.min(10, 24 * Math.abs(change));
    const ends = { x1: at[a].x, y1: at[a].y, x2: at[b].x, y2: at[b].y };
    svgElement(link, "line", { class: `line ${kind}`, "stroke-width": width, ...ends }).style.strokeWidth =
      `${width}px`;
    const reach = svgElement(link, "line", { class: "reach", ...ends });
    svgElement(reach, "title").textContent = "Click to remove this link";
    reach.addEventListener("click", () => view.send({ kind: "cut", a, b }));
    if (change !== null) {
      const far = a === data.looked ? at[b] : at[a];
      const near = a === data.looked ? at[a] : at[b];
      // Nearer to the neighbour, where links of one node lie apart, and beside the line.
      const [right, down] = [far.x - near.x, far.y - near.y];
      const aside = (14 + width / 2) / (Math.hypot(right, down) || 1);
      const spot = {
        x: near.x + 0.55 * right + aside * 1.4 * Math.abs(down),
        y: near.y + 0.55 * down - aside * right * Math.sign(down || 1),
      };
      svgElement(svg, "text", spot).textContent = signed(change);
    }
  }
  data.spots.forEach((spot, i) => drawNode(view, spot, i, at[i]));
  drawHandle(view, at[data.looked]);
  if (focus) svg.querySelector(`[data-name="${focus}"]`)?.focus();
}

function drawNode(view, spot, i, { x, y }) {
  const { svg, data } = view;
  const looked = i === data.looked;
  const node = svgElement(svg, "g", {
    class: looked ? "node looked" : "node",
    transform: `translate(${x} ${y})`,
    tabindex: 0,
    role: "button",
    "data-name": spot.name,
    "aria-label": `Node ${spot.name}, variance ${(spot.before ** 2).toFixed(2)} before, ${(
      spot.after ** 2
    ).toFixed(2)} after`,
  });
  svgElement(node, "circle", { class: "after", r: CORE + PER_STD * spot.after });
  svgElement(node, "circle", { class: "before", r: CORE + PER_STD * spot.before });
  svgElement(node, "circle", { class: "core", r: CORE });
  svgElement(node, "text", { class: "name" }).textContent = spot.name;
  const below = CORE + PER_STD * Math.max(spot.before, spot.after) + 9;
  svgElement(node, "text", { y: below }).textContent = (spot.after ** 2).toFixed(2);
  const look = () => !looked && view.send({ kind: "look", node: i });
  node.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      look();
    }
  });
  drag(node, view, {
    move: (p) => {
      view.moved.set(spot.name, share(view, p));
      draw(view);
    },
    click: look,
  });
}

// A plus beside the selected node: pull it onto another node to link, or into the open to add a node.
function drawHandle(view, { x, y }) {
  const { svg, data } = view;
  const { before, after } = data.spots[data.looked];
  const far = (CORE + PER_STD * Math.max(before, after) + 4) * Math.SQRT1_2;
  const up = y - far > 14 ? -1 : 1;
  const handle = svgElement(svg, "g", {
    class: "handle",
    transform: `translate(${x + far} ${y + up * far})`,
    role: "button",
    "aria-label": "Pull to another node to link them, or into the open for a new node",
  });
  svgElement(handle, "title").textContent = "Pull me onto another node, or into the open for a new one";
  svgElement(handle, "circle", { r: 10 });
  svgElement(handle, "text").textContent = "+";
  let pull;
  drag(handle, view, {
    move: (p) => {
      pull ??= svgElement(svg, "line", { class: "pull", x1: x, y1: y });
      pull.setAttribute("x2", p.x);
      pull.setAttribute("y2", p.y);
      const aim = nearest(view, p);
      svg.querySelectorAll(".node").forEach((n, i) => n.classList.toggle("aim", i === aim));
    },
    end: (p) => {
      pull.remove();
      const target = nearest(view, p);
      if (target === undefined) {
        const spot = share(view, p);
        view.send({ kind: "node", node: data.looked, x: spot.x, y: spot.y });
      } else view.send({ kind: "link", a: data.looked, b: target });
    },
    click: () => view.send({ kind: "node", node: data.looked }),
  });
}

// Listens on the window, because a redraw replaces the node under the finger.
/**
 * @param {SVGElement} element
 * @param {any} view
 * @param {{ move: Function, end?: Function, click: Function }} actions
 */
function drag(element, view, { move, end, click }) {
  element.addEventListener("pointerdown", (down) => {
    if (down.button) return;
    let moving = false;
    const here = (event) => {
      const box = view.svg.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const far = (event) =>
      Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > STILL;
    const onMove = (event) => {
      moving ||= far(event);
      if (moving) move(here(event));
    };
    const onUp = (event) => {
      window.removeEventListener("pointermove", onMove);
      window.removeEventListener("pointerup", onUp);
      window.removeEventListener("pointercancel", onUp);
      if (event.type === "pointercancel") draw(view);
      else if (moving) end?.(here(event));
      else click();
    };
    window.addEventListener("pointermove", onMove);
    window.addEventListener("pointerup", onUp);
    window.addEventListener("pointercancel", onUp);
  });
}

function nearest(view, { x, y }) {
  const { spots, looked } = view.data;
  let found;
  let closest = 34;
  spots.forEach((spot, i) => {
    const at = place(view, spot);
    const beside = Math.hypot(at.x - x, at.y - y);
    if (i !== looked && beside < closest) [found, closest] = [i, beside];
  });
  return found;
}

function place(view, spot) {
  const { x, y } = view.moved.get(spot.name) ?? spot;
  const { clientWidth, clientHeight } = view.frame;
  return {
    x: MARGIN + x * (clientWidth - 2 * MARGIN),
    y: MARGIN + y * (clientHeight - 2 * MARGIN),
  };
}

function share(view, { x, y }) {
  const { clientWidth, clientHeight } = view.frame;
  const inside = (v) => Math.min(Math.max(v, 0), 1);
  return {
    x: inside((x - MARGIN) / (clientWidth - 2 * MARGIN)),
    y: inside((y - MARGIN) / (clientHeight - 2 * MARGIN)),
  };
}

function signed(number) {
  return `${number > 0 ? "+" : "−"}${Math.abs(number).toFixed(2)}`;
}

import { importModule } from "../shared/fetch.js";
import { drawCrosses } from "./crosses.js";

const MOVABLE = 300; // with more nodes than this, settling would take seconds
const EFFORT = 9000; // nodes times steps of settling: a fraction of a second
const LEAST = 60; // steps, enough from a good start
const MARGIN = 60;
const SNAP = 12; // pixels beside a node that still count as a click on it
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const views = new WeakMap();

// Streamlit calls this first, and again when the data or the theme change.
export default function ({ data, parentElement, setTriggerValue }) {
  const frame = parentElement.querySelector(".ego");
  const view = views.get(frame) ?? { frame };
  views.set(frame, view);
  frame.style.height = `var(--bup-ego-height, ${data.height}px)`; // a page may know better
  view.data = data;
  view.pick = (id) => id !== data.centre && setTriggerValue("pick", id);
  importModule(data.library).then(
    () => view.data === data && views.get(frame) === view && show(globalThis.vis, view),
    () => say(view, "The network could not be drawn: reload the page."),
  );
  return () => {
    views.delete(frame);
    if (!view.settling) view.network?.destroy();
  };
}

function show(vis, view) {
  if (view.settling) return; // it shows the newest data when it ends
  const { data } = view;
  const { centre, nodes, edges } = data;
  const first = !view.network;
  if (first) build(vis, view);
  else view.network.setOptions(options(view));

  const at = view.network.getPositions();
  const stays = centre in at; // the new centre was there: whatever else was there stays put
  const origin = stays ? at[centre] : { x: 0, y: 0 };
  const kept = (id) => stays && id in at;
  const wanted = new Set(nodes.map((node) => node.id));
  const gone = Object.keys(at).map(Number).filter((id) => !wanted.has(id));
  const fresh = nodes.some((node) => !kept(node.id));

  // Forces make a round picture, but the canvas is wide: settle it round, show it widened.
  const wide = widening(view);
  const widened = ({ x, y }, by) => ({
    x: origin.x + (x - origin.x) * by,
    y: origin.y + (y - origin.y) / by,
  });
  const start = ({ id, x, y }) =>
    kept(id) ? widened(at[id], 1 / wide) : { x: x + origin.x, y: y + origin.y };
  const end = ({ id }) => (kept(id) ? at[id] : widened(view.network.getPosition(id), wide));

  view.edges.clear();
  view.nodes.remove(gone);
  view.nodes.update(nodes.map((node) => ({ ...node, ...start(node), fixed: kept(node.id) })));
  view.edges.add(edges);
  say(view, "");
  view.network.unselectAll();
  view.frame.querySelector(".vis-tooltip")?.style.setProperty("visibility", "hidden");
  view.cursor = null;
  view.label();

  const done = () => {
    view.nodes.update(nodes.map((node) => ({ id: node.id, ...end(node), fixed: false })));
    if (fresh || gone.length) fit(view, !first && stays);
    view.frame.dataset.centre = centre;
    if (view.data !== data) show(vis, view);
  };
  if (fresh && nodes.length > 1 && nodes.length <= MOVABLE) settle(view, done);
  else done();
}

function build(vis, view) {
  view.nodes = new vis.DataSet();
  view.edges = new vis.DataSet();
  const canvas = view.frame.querySelector(".canvas");
  const network = new vis.Network(canvas, { nodes: view.nodes, edges: view.edges }, options(view));
  view.network = view.frame.network = network; // on the element: a handle for the console and tests
  drawCrosses(network);
  network.on("click", ({ pointer }) => {
    const id = nearest(view, pointer.DOM);
    if (id !== undefined) view.pick(id);
  });
  network.on("doubleClick", () => fit(view, true));
  network.on("hoverNode", () => (canvas.style.cursor = "pointer"));
  network.on("blurNode", () => (canvas.style.cursor = ""));
  // vis-network does not notice that the pointer left, and would keep the hover text open.
  const away = () => new MouseEvent("mousemove", { clientX: -9999, clientY: -9999 });
  canvas.addEventListener("mouseleave", () => canvas.querySelector("canvas").dispatchEvent(away()));
  // Also when a tab is opened: before, the canvas has no size. Deferred, because vis-network zooms too.
  network.on("resize", ({ width, oldWidth }) => {
    if (width !== oldWidth) requestAnimationFrame(() => views.has(view.frame) && fit(view, false));
  });
  // The wheel scrolls the page unless Ctrl is down; a pinch on a touchpad counts as Ctrl.
  const unlessCtrl = (event) => event.ctrlKey || event.metaKey || event.stopPropagation();
  canvas.addEventListener("wheel", unlessCtrl, { capture: true, passive: true });
  canvas.addEventListener("keydown", (event) => press(view, event));
  const surface = canvas.querySelector(".vis-network");
  surface.setAttribute("role", "application");
  view.label = () => {
    const centre = view.nodes.get(view.data.centre).label;
    surface.setAttribute(
      "aria-label",
      `Network of ${view.nodes.length} nodes around ${centre}. Arrow keys choose, Enter picks.`,
    );
  };
}

function style(view, name) {
  return getComputedStyle(view.frame).getPropertyValue(name).trim();
}

function options(view) {
  const given = view.data.options;
  const text = style(view, "--st-text-color");
  const accent = style(view, "--st-primary-color");
  const halo = style(view, "--st-background-color");
  const size = given.nodes.font.size / (view.scale ?? 1);
  const font = { size, color: text, strokeColor: halo, face: style(view, "--st-font") };
  const mark = (values) => Object.assign(values, { borderColor: accent, borderWidth: 4 });
  return {
    ...given,
    nodes: {
      ...given.nodes,
      font: { ...given.nodes.font, ...font },
      chosen: { label: false, node: mark },
    },
    edges: { ...given.edges, color: { color: text, opacity: 0.45, inherit: false } },
  };
}

// Lets new nodes find their places around those that stay, then stops the forces.
function settle(view, done) {
  const { data, network } = view;
  view.settling = true;
  network.once("stabilizationIterationsDone", () => {
    view.settling = false;
    if (views.get(view.frame) !== view) return network.destroy(); // left while settling
    network.setOptions({ physics: false });
    done();
  });
  network.setOptions({ physics: data.settling });
  const most = data.settling.stabilization.iterations;
  network.stabilize(Math.min(most, Math.max(LEAST, Math.round(EFFORT / data.nodes.length))));
}

function widening({ frame }) {
  const shape = frame.clientWidth / frame.clientHeight || 1.8; // unknown in a tab not yet open
  return Math.sqrt(Math.min(Math.max(shape, 0.6), 2.2));
}

// Brings all nodes into view; few nodes have names in the text size of the page.
function fit(view, gently) {
  const { network, frame, data } = view;
  const places = Object.values(network.getPositions());
  const [left, right] = range(places.map(({ x }) => x));
  const [top, bottom] = range(places.map(({ y }) => y));
  const scale = Math.min(
    1.4,
    frame.clientWidth / (right - left + 2 * MARGIN),
    frame.clientHeight / (bottom - top + 2 * MARGIN),
  );
  if (view.settling || !(scale > 0)) return; // not placed, or not shown yet
  view.scale = data.named ? scale : 1;
  network.setOptions(options(view));
  network.moveTo({
    position: { x: (left + right) / 2, y: (top + bottom) / 2 },
    scale,
    animation: gently && !calm.matches && { duration: 350, easingFunction: "easeInOutQuad" },
  });
}

function range(numbers) {
  return [Math.min(...numbers), Math.max(...numbers)];
}

function nearest(view, { x, y }) {
  const { network } = view;
  let found;
  let closest = SNAP;
  for (const [id, place] of Object.entries(network.getPositions())) {
    const at = network.canvasToDOM(place);
    const radius = view.nodes.get(Number(id)).size * network.getScale();
    const beside = Math.hypot(at.x - x, at.y - y) - radius;
    if (beside < closest) [found, closest] = [Number(id), beside];
  }
  return found;
}

function press(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return; // the browser's own
  const { network, data } = view;
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const zoom = { "+": 1.25, "=": 1.25, "-": 0.8 }[event.key];
  if (step) {
    const from = view.cursor ?? (step > 0 ? 0 : data.nodes.length);
    view.cursor = (from + step + data.nodes.length) % data.nodes.length;
    const node = data.nodes[view.cursor];
    network.selectNodes([node.id], false);
    say(view, node.title.replaceAll("\n", " · "));
  } else if (event.key === "Enter" && view.cursor !== null) {
    view.pick(data.nodes[view.cursor].id);
  } else if (zoom) {
    network.moveTo({ scale: network.getScale() * zoom });
  } else if (event.key === "0") {
    fit(view, true);
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

function say(view, text) {
  view.frame.querySelector(".said").textContent = text;
}

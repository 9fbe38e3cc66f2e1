// A plotly chart that keeps its camera when its colours change and rings the pick without a redraw.

import { fetchOnce, json } from "../shared/fetch.js";

const views = new WeakMap();
const RING = "#E69F00";

// Streamlit calls this first, and again when the data or the theme change.
export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".bup-chart");
  const view = views.get(host) ?? { stage: host.parentElement };
  views.set(host, view);
  view.data = data;
  view.send = setTriggerValue;
  host.style.height = `${data.height}px`;
  host.setAttribute("aria-label", data.label);
  Promise.all([library(), fetchOnce(data.figure, json)]).then(
    ([plotly, figure]) => {
      if (view.data === data && views.get(host) === view) draw(plotly, host, view, figure);
    },
    () => host.replaceChildren("The chart could not be loaded: reload the page."),
  );
  return () => {
    views.delete(host);
    globalThis.Plotly?.purge(host);
  };
}

// Another component loads plotly, perhaps after this one starts.
function library() {
  return new Promise((found) => {
    (function look() {
      if (globalThis.Plotly) found(globalThis.Plotly);
      else setTimeout(look, 20);
    })();
  });
}

async function draw(plotly, host, view, figure) {
  const { key, config } = view.data;
  if (view.figure !== figure) {
    const first = view.figure === undefined;
    view.figure = figure;
    const options = {
      displaylogo: false,
      modeBarButtonsToRemove: ["sendChartToCloud"], // nothing leaves this machine
      responsive: true,
      scrollZoom: true,
      ...config,
    };
    const layout = structuredClone(figure.layout); // plotly writes into what it is given
    view.camera = camera(key, layout);
    const kept = cameras().get(view.camera);
    // An empty chart first, so that a double-click returns to the ranges of the figure.
    if (first && kept) await plotly.newPlot(host, [], structuredClone(layout), options);
    for (const [axis, range] of Object.entries(kept ?? {})) layout[axis].range = [...range];
    await plotly.react(host, figure.data, layout, options);
  }
  if (!view.listening) listen(host, view);
  ring(host, view);
}

function listen(host, view) {
  view.listening = true;
  host.on("plotly_click", ({ points }) => {
    const node = points.map(index).find((n) => n !== null);
    if (node !== undefined) view.send("pick", node);
  });
  host.on("plotly_selected", (event) => {
    const nodes = (event?.points ?? []).map(index).filter((n) => n !== null);
    if (nodes.length) view.send("group", nodes);
  });
  host.on("plotly_relayout", () => {
    if (view.camera) cameras().set(view.camera, ranges(host._fullLayout));
  });
  for (const moved of ["plotly_relayouting", "plotly_relayout", "plotly_afterplot"]) {
    host.on(moved, () => ring(host, view));
  }
}

// The cameras, by chart: they outlive the element, which Streamlit may mount again.
function cameras() {
  return (globalThis.bupCameras ??= new Map());
}

// Only charts with `uirevision` keep a camera; a figure with other ranges has another one.
function camera(key, layout) {
  return layout.uirevision ? `${key} ${JSON.stringify(ranges(layout))}` : null;
}

function ranges(layout) {
  const axes = Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name));
  return Object.fromEntries(axes.sort().map((name) => [name, [...(layout[name].range ?? [])]]));
}

// Rings lie over the chart: as a part of it, each would make plotly redraw all points.
function ring(host, { stage, data }) {
  for (const old of stage.querySelectorAll(".bup-ring")) old.remove();
  for (const { x, y, axes } of data.marks) {
    const across = host._fullLayout?.[`xaxis${axes}`];
    const down = host._fullLayout?.[`yaxis${axes}`];
    if (!across || !down) continue;
    const share = (value, { type, range: [from, to] }) =>
      ((type === "log" ? Math.log10(value) : value) - from) / (to - from);
    const [right, up] = [share(x, across), share(y, down)];
    if (Math.min(right, up) < 0 || Math.max(right, up) > 1) continue;
    const mark = stage.appendChild(document.createElement("div"));
    mark.className = "bup-ring";
    Object.assign(mark.style, {
      position: "absolute",
      left: `${across._offset + right * across._length}px`,
      top: `${down._offset + (1 - up) * down._length}px`,
      width: "26px",
      height: "26px",
      transform: "translate(-50%, -50%)",
      border: `4px solid ${RING}`,
      borderRadius: "50%",
      pointerEvents: "none",
    });
  }
}

function index({ customdata }) {
  const value = Array.isArray(customdata) ? customdata[0] : customdata;
  return value === undefined || value === null ? null : Number(value);
}

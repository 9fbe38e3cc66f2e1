// A plotly chart that keeps its camera when its colours change and shows the pick without a redraw.
const views = new WeakMap();
const RING = "#E69F00";

// Called at first, and again whenever the data or the theme change.
export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".bup-chart");
  const view = views.get(host) ?? {};
  views.set(host, view);
  view.data = data;
  view.send = setTriggerValue;
  host.style.height = `${data.height}px`;
  ready(data.digest).then(([plotly, figure]) => {
    if (view.data === data && views.get(host) === view) draw(plotly, host, view, figure);
  });
  return () => {
    views.delete(host);
    globalThis.Plotly?.purge(host);
  };
}

// Two other components bring the library and the figure, perhaps after this one.
function ready(digest) {
  return new Promise((found) => {
    (function look() {
      const figure = globalThis.bupFigures?.get(digest);
      if (globalThis.Plotly && figure) found([globalThis.Plotly, figure]);
      else setTimeout(look, 20);
    })();
  });
}

async function draw(plotly, host, view, figure) {
  const { marks, config } = view.data;
  const rings = marks.map(({ x, y, axes }) => ({
    type: "scattergl", // drawn above the other GL points; plain ones would lie below
    x: [x],
    y: [y],
    xaxis: `x${axes}`,
    yaxis: `y${axes}`,
    mode: "markers",
    marker: { symbol: "circle-open", size: 22, color: RING, line: { width: 4 } },
    hoverinfo: "skip",
    showlegend: false,
  }));
  await plotly.react(host, [...figure.data, ...rings], figure.layout, {
    displaylogo: false,
    responsive: true,
    scrollZoom: true,
    ...config,
  });
  if (view.listening) return;
  view.listening = true;
  host.on("plotly_click", ({ points }) => {
    const node = points.map(index).find((n) => n !== null);
    if (node !== undefined) view.send("pick", node);
  });
  host.on("plotly_selected", (event) => {
    const nodes = (event?.points ?? []).map(index).filter((n) => n !== null);
    if (nodes.length) view.send("group", nodes);
  });
}

function index({ customdata }) {
  const value = Array.isArray(customdata) ? customdata[0] : customdata;
  return value === undefined || value === null ? null : Number(value);
}

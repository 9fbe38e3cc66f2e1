// The charts of the app, drawn by plotly, which is unpacked with the first chart.

import { create } from "../components/shared/elements.js";
import { inflate, restoreFigure } from "./decode.js";
import { content, go, graph, state } from "./state.js";
import { select } from "./words.js";

const QUIET = { bgcolor: "rgba(0,0,0,0)", color: "#8C8C8C", activecolor: "#0072B2" };
const MOST_DRAWN = 6000;
/** @type {Promise<any> | null} */
let drawing = null;

function plotly() {
  drawing ??= inflate("plotly").then((source) => {
    const script = create("script");
    script.textContent = source;
    document.head.append(script);
    return globalThis.Plotly;
  });
  return drawing;
}

// Replaces the colours of a light page by those of a dark one.
function recolour(value) {
  if (Array.isArray(value)) return value.map(recolour);
  if (typeof value === "string") return (state.dark && content.dark[value]) || value;
  if (value === null || typeof value !== "object" || "bdata" in value) return value;
  return Object.fromEntries(Object.entries(value).map(([k, inner]) => [k, recolour(inner)]));
}

// Many points need WebGL, where the browser has it; fewer are sharper without.
function drawsByWebgl() {
  return graph.count > MOST_DRAWN && Boolean(create("canvas").getContext("webgl"));
}

// A chart with its title above and its words below.
export function chart({ title, words, figure, groups }) {
  /** @type {any} plotly adds listeners to it */
  const stage = create("div", { class: "stage", role: "group", "aria-label": `${title}. ${words}` });
  stage.style.height = `${figure.layout.height}px`;
  /** @type {any} */
  const whole = create("figure", {}, create("h3", {}, title), stage, create("figcaption", {}, words));
  whole.draw = async () => {
    const library = await plotly();
    const { data, layout } = recolour(restoreFigure(figure, content.shared));
    // On a touch screen a chart scrolls with the page, and has no tools, which would cover its legend.
    const mouse = matchMedia("(hover: hover)").matches;
    const options = { displaylogo: false, displayModeBar: mouse && "hover", responsive: true };
    const points = data.map((trace) => (trace.type === "scattergl" && !drawsByWebgl() ? { ...trace, type: "scatter" } : trace));
    const page = { modebar: QUIET, autosize: true, ...(mouse ? {} : { dragmode: false }) };
    await library.newPlot(stage, points, { ...layout, ...page }, options);
    stage.on("plotly_click", ({ points }) => onClick(points, groups));
    stage.on("plotly_relayout", () => whole.ring());
    stage.on("plotly_afterplot", () => whole.ring());
    whole.ring();
  };
  whole.ring = () => drawRings(stage, groups === null ? state.node : -1);
  whole.dispose = () => globalThis.Plotly?.purge(stage);
  return whole;
}

function onClick(points, groups) {
  const found = points
    .map(({ customdata }) => (Array.isArray(customdata) ? customdata[0] : customdata))
    .find((number) => number !== undefined && number !== null);
  if (found === undefined) return;
  if (!groups) return go({ node: Number(found), group: null });
  const [title, nodes] = groups[Number(found)] ?? [];
  if (nodes) go({ group: { title, nodes } });
}

// Draws a ring around the picked node in each chart that shows it.
function drawRings(stage, node) {
  for (const old of stage.querySelectorAll(":scope > .ring")) old.remove();
  if (node < 0 || !stage._fullData) return;
  for (const trace of stage._fullData) {
    const place = trace.customdata ? Array.prototype.indexOf.call(trace.customdata, node) : -1;
    const [across, down] = ["xaxis", "yaxis"].map(
      (axis) => stage._fullLayout[axis + (trace[axis] ?? axis[0]).slice(1)],
    );
    if (place < 0 || !across || !down) continue;
    const [u, v] = [across.d2p(trace.x[place]), down.d2p(trace.y[place])];
    if (!(u >= 0 && v >= 0 && u <= across._length && v <= down._length)) continue;
    const style = `left:${across._offset + u}px;top:${down._offset + v}px`;
    stage.append(create("div", { class: "ring", style }));
  }
}

const VIEWS = {
  reliability: "When the model says 80%, is it right 80% of the time?",
  unseen: "Does the model notice what it was never taught?",
  structure: "Is a well-linked node a certain node?",
};

// A view of a run: its question, its numbers and its charts, by score where there are several.
export function chartView(name, run) {
  const blocks = run.views[name];
  const chosen = blocks.find((block) => block.label === state.score) ?? blocks[0];
  const question = VIEWS[name].replace(/\bnode\b/g, content.noun[0]);
  /** @type {Node[]} */
  const parts = [create("h2", {}, question)];
  if (blocks.length > 1) {
    const options = blocks.map(({ label }) => [label, label]);
    parts.push(create("div", { class: "bar" }, select("Score", options, chosen.label, (score) => go({ score }))));
  }
  const cells = chosen.numbers.map(([label, value, meaning]) =>
    create("div", { title: meaning }, create("dt", {}, label), create("dd", {}, value)));
  if (cells.length) parts.push(create("dl", { class: "numbers" }, ...cells));
  const figures = chosen.charts.map(chart);
  parts.push(create("div", { class: "charts" }, ...figures));
  return { parts, figures, maps: [] };
}

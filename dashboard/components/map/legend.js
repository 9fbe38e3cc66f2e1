// The strip below the map: what its colours mean. A score has a histogram, on which the visitor drags
// a range; categories have a legend.

import { element } from "../shared/elements.js";
import { rgb } from "./canvas.js";
import { ramp } from "./paint.js";

const BINS = 60;
const GRIP = 7; // pixels beside an end of the range that still take hold of it

/**
 * Calls `changed(range, done)` while the visitor drags a range [from, to] of shades, and once more with
 * `done` when the drag ends. An open end is null; the range is null if it holds everything.
 * @param {HTMLElement} strip
 * @param {(range: import("./types.js").Range, done: boolean) => void} changed
 */
export function createLegend(strip, changed) {
  const about = element(strip, "div", "about");
  const head = element(about, "div", "head");
  const title = element(head, "span", "title");
  const shapes = element(head, "span", "shapes");
  const count = element(about, "div", "count");
  const meaning = element(about, "div", "meaning");
  const scale = element(strip, "div", "scale");
  const canvas = element(scale, "canvas", "histogram");
  const ends = element(scale, "div", "ends");
  const low = element(ends, "span", "low");
  const said = element(ends, "button", "said");
  const high = element(ends, "span", "high");
  said.type = "button";
  const legend = element(strip, "div", "legend");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "group");
  /** @type {{ data: any, counts: Float64Array, range: import("./types.js").Range }} */
  const bar = { data: null, counts: new Float64Array(BINS), range: null };
  /** @type {any} */
  let drag = null;

  const share = (shade) => (shade - bar.data.limits[0]) / (bar.data.limits[1] - bar.data.limits[0]);
  const shade = (at) => bar.data.limits[0] + at * (bar.data.limits[1] - bar.data.limits[0]);
  const span = () => [
    bar.range?.[0] == null ? 0 : share(bar.range[0]),
    bar.range?.[1] == null ? 1 : share(bar.range[1]),
  ];

  function setSpan(from, to, done) {
    [from, to] = [Math.max(0, Math.min(from, to)), Math.min(1, Math.max(from, to))];
    // The first and last bar also hold the values beyond the scale: an end there is open.
    /** @type {[number | null, number | null]} */
    const range = [from <= 0.001 ? null : shade(from), to >= 0.999 ? null : shade(to)];
    bar.range = range[0] === null && range[1] === null ? null : range;
    draw();
    changed(bar.range, done);
  }

  function draw() {
    const { data, counts } = bar;
    if (!data?.limits) return;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width) return;
    const ratio = globalThis.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const ink = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.clearRect(0, 0, width, height);
    const along = ramp(data.colours);
    // Square roots, or the many certain nodes would flatten the other bars.
    const tallest = Math.sqrt(Math.max(1, ...counts));
    const [from, to] = span();
    const step = width / BINS;
    for (let k = 0; k < BINS; k++) {
      const middle = (k + 0.5) / BINS;
      ink.globalAlpha = middle >= from && middle <= to ? 1 : 0.18;
      ink.fillStyle = rgb(along(middle).map(Math.round));
      ink.fillRect(k * step, height - 6, step + 0.5, 6);
      const tall = ((height - 10) * Math.sqrt(counts[k])) / tallest;
      ink.fillRect(k * step + 0.5, height - 8 - tall, Math.max(1, step - 1), tall);
    }
    ink.globalAlpha = 1;
    if (bar.range) {
      ink.fillStyle = data.text;
      for (const end of [from, to]) {
        const x = Math.min(width - 2, Math.max(0, end * width - 1));
        ink.fillRect(x, 0, 2, height);
        ink.fillRect(x - 2, height / 2 - 6, 6, 12);
      }
    }
    low.textContent = `${data.ends[0][0]} ${data.ends[0][1]}`;
    high.textContent = `${data.ends[1][1]} ${data.ends[1][0]}`;
    const words = rangeWords();
    canvas.setAttribute(
      "aria-label",
      `${data.label}: drag to show a range only. ${words || "Everything is shown."}`,
    );
    said.textContent = words ? `${words} ✕` : "drag to filter";
    said.disabled = !words;
    said.title = words ? "Show everything again" : "";
  }

  function rangeWords() {
    if (!bar.range) return "";
    const values = bar.range.map((end, k) => (end === null ? bar.data.limits[k] : end));
    return values.map((v) => formatShade(bar.data, v)).join(" to ");
  }

  const at = (event) => event.offsetX / canvas.clientWidth;
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    const [from, to] = span();
    const grip = GRIP / canvas.clientWidth;
    const where = at(event);
    if (bar.range && Math.abs(where - from) < grip) drag = { anchor: to };
    else if (bar.range && Math.abs(where - to) < grip) drag = { anchor: from };
    else if (bar.range && where > from && where < to) drag = { grabbed: where, from, to };
    else drag = { anchor: where };
    drag.start = where;
  };
  canvas.onpointermove = (event) => {
    if (!drag) return;
    const where = at(event);
    if (Math.abs(where - drag.start) < 3 / canvas.clientWidth && !drag.moved) return;
    drag.moved = true;
    if (drag.grabbed === undefined) return setSpan(drag.anchor, where, false);
    const wide = drag.to - drag.from;
    const from = Math.min(1 - wide, Math.max(0, drag.from + where - drag.grabbed));
    setSpan(from, from + wide, false);
  };
  canvas.onpointerup = canvas.onpointercancel = () => {
    if (drag?.moved) setSpan(...span(), true);
    drag = null;
  };
  canvas.ondblclick = said.onclick = () => setSpan(0, 1, true);
  canvas.onkeydown = (event) => {
    const step = { ArrowLeft: -0.05, ArrowRight: 0.05 }[event.key];
    const [from, to] = span();
    if (step && event.shiftKey) setSpan(from, Math.max(from + 0.05, to + step), true);
    else if (step) setSpan(Math.min(to - 0.05, from + step), to, true);
    else if (event.key === "Escape") setSpan(0, 1, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return {
    draw,
    range: () => bar.range,
    busy: () => drag !== null,
    /** @param {number} shown @param {import("./types.js").Scene} scene */
    count(shown, { n: drawn, thinned, all: [all], noun }) {
      const number = (n) => n.toLocaleString("en");
      const words = shown < drawn ? [`${number(shown)} of ${number(drawn)} shown`] : [];
      const rest = thinned ? "zoom in for more" : "all that is here";
      if (drawn < all) words.push(`${number(drawn)} of ${number(all)} ${noun[1]} drawn: ${rest}`);
      count.textContent = words.join(" · ");
    },
    show(data, layer, range) {
      bar.data = data;
      bar.range = data.limits ? range : null;
      title.textContent = data.label;
      meaning.textContent = data.meaning.match(/^.*?[.](?= |$)/)?.[0] ?? data.meaning;
      meaning.title = data.meaning;
      shapes.replaceChildren();
      for (const [sign, words] of data.shapes) {
        const entry = element(shapes, "span");
        element(entry, "i", `sign ${sign}`);
        entry.append(` ${words}`);
      }
      scale.hidden = !data.limits;
      legend.hidden = Boolean(data.limits);
      legend.replaceChildren();
      for (const [words, colour] of data.legend) {
        const entry = element(legend, "span");
        element(entry, "i", "swatch").style.background = colour;
        entry.append(` ${words}`);
        entry.title = words;
      }
      bar.counts.fill(0);
      if (!data.limits) return;
      for (const [i, value] of layer.shades.entries()) {
        if (!layer.shown[i] || !Number.isFinite(value)) continue;
        bar.counts[Math.min(BINS - 1, Math.max(0, Math.floor(share(value) * BINS)))]++;
      }
      draw();
    },
  };
}

/**
 * The number that a shade stands for.
 * @param {"log" | "minus" | "" | undefined} turn
 * @param {number} shade
 */
export function shadeValue(turn, shade) {
  return turn === "log" ? 10 ** shade - 1 : turn === "minus" ? -shade : shade;
}

/**
 * That number as text.
 * @param {{ turn?: "log" | "minus" | "" }} data
 * @param {number} shade
 */
export function formatShade({ turn }, shade) {
  const value = shadeValue(turn, shade);
  return turn === "log" ? value.toFixed(0) : `${Number(value.toPrecision(3))}`;
}

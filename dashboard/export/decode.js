// Decodes the data inside the page.

import { fetchOnce } from "../components/shared/fetch.js";
import { byId } from "./words.js";

const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i1: Int8Array, i2: Int16Array, f4: Float32Array };

export const decodeBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

// The text of an element that holds it, or whose `data-file` does, below the folder of the page.
export async function inflate(id) {
  const { dataset, textContent } = byId(id);
  if (dataset.file) return fetchOnce(dataset.file, inflateAnswer);
  return inflateAnswer(new Response(decodeBase64(textContent)));
}

export function inflateAnswer({ body }) {
  return new Response(body.pipeThrough(new DecompressionStream("deflate"))).text();
}

// An array of numbers; with a scale, steps become the values that they stand for. Of a large graph
// they are fetched later: a map from each node to its own, empty at first.
export function numbers({ type, bytes, scale }) {
  if (bytes === undefined) return new Map();
  const steps = new TYPES[type](decodeBase64(bytes).buffer);
  if (!scale) return steps;
  const [first, step] = scale;
  return Float32Array.from(steps, (code) => first + code * step);
}

// The shades of a colour from their steps.
export function shadesOf({ scale: [first, step] }, packed) {
  return Float32Array.from(numbers(packed), (code) => (code === 65535 ? NaN : first + code * step));
}

export function openRun(run) {
  const open = (name) => run[name] && numbers(run[name]);
  const arrays = ["said", "sure", "truth", "shapes", "test", "probs", "low", "high", "mean", "std"];
  const colours = run.colours.map((colour) => {
    const shades = colour.shades ? shadesOf(colour, colour.shades) : [];
    const ranks = colour.ranks ? shadesOf(colour, colour.ranks) : shades.filter(Number.isFinite).sort();
    return { ...colour, shades, ranks };
  });
  const reasons = { ...run.reasons };
  for (const name of ["nodes", "told", "values", "gap"]) if (reasons[name]) reasons[name] = numbers(reasons[name]);
  return { ...run, ...Object.fromEntries(arrays.map((name) => [name, open(name)])), colours, reasons };
}

// Puts the long lists that charts share back into a figure.
export function restoreFigure(value, shared) {
  if (Array.isArray(value)) return value.map((inner) => restoreFigure(inner, shared));
  if (value === null || typeof value !== "object") return value;
  if ("$" in value) return structuredClone(shared[value.$]);
  return Object.fromEntries(Object.entries(value).map(([k, inner]) => [k, restoreFigure(inner, shared)]));
}

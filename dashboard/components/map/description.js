// A node, and the whole map, in words.

import { element } from "../shared/elements.js";
import { formatShade } from "./legend.js";
import { aboutOf, lowerBound, nameOf } from "./scene.js";

/**
 * A node as lines of text: its name, what there is to read of it, the prediction and the true class, the score, the links.
 * @param {import("./types.js").MapState} map
 * @param {number} node
 */
export function nodeLines(map, node) {
  const { scene, layer, data } = map;
  const one = scene.noun[0][0].toUpperCase() + scene.noun[0].slice(1);
  const about = aboutOf(scene, node);
  const [said, truth, shape] = [layer.said[node], layer.truth[node], layer.shapes[node]];
  const name = (code) => scene.classes[code] ?? "unknown";
  const verdict =
    truth < 0 ? "Its class is not known." :
    shape === 2 ? `In truth ${name(truth)}, a class never shown.` :
    shape === 1 ? `In truth ${name(truth)}.` : "That is right.";
  const links = scene.neighbours(node).length;
  const lines = [scene.named ? nameOf(scene, node) : `${one} ${nameOf(scene, node) ?? scene.number(node)}`];
  if (about) lines.push(about);
  lines.push(`Says ${name(said)}. ${verdict}`);
  const shade = layer.shades[node];
  const score = Number.isFinite(shade) ? formatShade(data, shade) : "none";
  if (data.limits) lines.push(`${data.label} ${score}${rankWords(map, shade)}`);
  const more = scene.thinned ? " drawn, zoom in for all" : "";
  lines.push(`${links === 1 ? "1 link" : `${links} links`}${more}`);
  return lines;
}

/**
 * Lines as one text, each ended like a sentence.
 * @param {string[]} lines
 */
export function sentences(lines) {
  return lines.map((line) => (/[.?!]$/.test(line) ? line : `${line}.`)).join(" ");
}

function rankWords(map, shade) {
  if (!map.data.doubt || !Number.isFinite(shade)) return "";
  map.ranks ??= Float32Array.from(map.layer.shades).filter(Number.isFinite).sort();
  const below = lowerBound(map.ranks, shade);
  const share = Math.floor((100 * below) / map.ranks.length);
  const more = map.data.turn === "minus" ? "lower" : "higher";
  return `, ${more} than for ${share}% of ${map.scene.noun[1]}`;
}

// Puts the tip beside the pointer, inside the map.
export function positionTip(tip, u, v, width, height) {
  const left = u + 18 + tip.offsetWidth > width ? u - 18 - tip.offsetWidth : u + 18;
  const top = Math.min(height - tip.offsetHeight - 6, Math.max(6, v + 14));
  tip.style.transform = `translate(${Math.max(4, left)}px, ${top}px)`;
}

export function showTip(tip, map, node) {
  tip.replaceChildren();
  for (const [k, line] of nodeLines(map, node).entries()) element(tip, "div", k ? "" : "name", line);
}

// Makes the map reachable by keyboard, and describes its role to screen readers.
export function labelStage(stage, alternative) {
  alternative.id = `bup-map-${Math.random().toString(36).slice(2)}`;
  stage.tabIndex = 0;
  stage.setAttribute("role", "application");
  stage.setAttribute("aria-roledescription", "map of a graph");
  stage.setAttribute("aria-describedby", alternative.id);
}

// Describes the map to screen readers.
export function describe(alternative, stage, map, shown) {
  const { scene, data, layer } = map;
  const count = (n) => n.toLocaleString("en");
  const [one, many] = scene.noun;
  const what = `${count(scene.all[0])} ${many} and ${count(scene.all[1])} links`;
  stage.setAttribute("aria-label", `Map of ${what}, coloured by ${data.label}`);
  const [wrong, unseen] = [1, 2].map((shape) => layer.shapes.filter((s) => s === shape).length);
  alternative.textContent =
    `${count(shown)} of ${count(scene.all[0])} ${many} are shown. ${count(wrong)} are predicted wrongly, ` +
    `${count(unseen)} are of classes never shown. Picked: ` +
    `${data.node >= 0 ? sentences(nodeLines(map, data.node)) : "none."} ` +
    `Arrow keys go through the neighbours of the picked ${one} and Enter picks one; with Shift they ` +
    "move the map. Plus and minus zoom, 0 shows all of it, Escape lets go.";
}

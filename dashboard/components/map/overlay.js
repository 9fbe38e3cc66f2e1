// The overlay: names, the highlighted node, lasso and rings; and the sizes in which all is drawn.

import { element } from "../shared/elements.js";
import { marker } from "./canvas.js";
import { cut, placeLabels } from "./labels.js";
import { channels } from "./paint.js";
import { nameOf } from "./scene.js";

/**
 * Sizes and strengths, mixed by eye between a graph of 2,700 nodes (0) and one of 20,000 (1).
 * @param {import("./types.js").MapState} map
 * @param {import("./types.js").Camera} camera
 * @param {{ width: number, height: number, ratio: number, fitted: number }} view
 */
export function drawingStyle({ data, scene }, camera, { width, height, ratio, fitted }) {
  const crowd = Math.min(1.6, Math.max(0, Math.log(scene.n / 2700) / Math.log(7.3)));
  const between = (few, many) => few + (many - few) * crowd;
  const room = Math.min(1.4, Math.max(0.45, Math.min(width / 1000, height / 640) ** 0.75));
  const zoomed = Math.sqrt(camera.scale / fitted);
  const plain = Math.min(7, Math.max(1.8, 300 / Math.sqrt(scene.n))) * room * data.enlarge;
  const size = Math.min(26, Math.max(1.6, plain * zoomed));
  const alpha = Math.max(0.07, data.dark ? between(0.34, 0.16) : between(0.38, 0.2));
  // In a part of a large graph most links only cross it and would fill it. So links that end in
  // sight are drawn stronger, the fewer there are.
  const large = scene.numbers || scene.thinned;
  const share = (ink, links) => Math.min(0.5, Math.max(0.03, ink / links));
  const ending = scene.all[1] * (fitted / camera.scale) ** 2; // about so many
  const strongest = large ? Math.max(0.8 * alpha, share(400, ending)) : 0.5;
  const linkAlpha = Math.min(strongest, alpha * Math.max(0.8, zoomed));
  // On a white page the brightest colour is pale: a dark rim outlines it, but would fill a small
  // marker. A negative width thins the soft edge, down to no rim.
  const rimmed = data.limits && !data.dark;
  return {
    ...camera,
    ...{ width, height, ratio, paper: data.paper },
    size,
    rim: channels(rimmed ? data.text : data.paper),
    rimWidth: rimmed ? Math.min(0.45, 0.3 * (size - 5.5)) : size > 4 ? 0.6 : -1,
    ink: channels(data.ink),
    linkWidth: 0.9 * Math.min(2, Math.max(0.7, zoomed)),
    linkAlpha,
    crossing: large ? Math.min(1, share(2500, scene.m) / linkAlpha) : 1,
    linkTint: data.dark ? between(0.45, 0.6) : between(0.45, 0.65),
    linkFade: between(45, 30) * room * zoomed, // nearer, the long ones only cross what is seen
  };
}

// The part of the data after whose change the map is repainted, with the same graph and layer.
/** @param {import("./types.js").MapData} data */
export function paletteKey({ colours, limits, dark, paper, enlarge, plain }) {
  return JSON.stringify([colours, limits, dark, paper, enlarge, plain]);
}

/**
 * The nodes and links of the reasons that are on the map, each with its strength from -1 to 1.
 * @param {{ at: (number: number) => number }} scene
 * @param {(node: number) => boolean} visible
 * @param {import("./types.js").ReasonsData} reasons
 */
export function reasonsOnMap(scene, visible, { nodes, links }) {
  const here = (entries) => {
    const most = Math.abs(entries[0]?.at(-1)) || 1;
    return entries
      .map((entry) => [...entry.slice(0, -1).map((number) => scene.at(number)), entry.at(-1) / most])
      .filter((entry) => entry.slice(0, -1).every((node) => node >= 0 && visible(node)));
  };
  return { nodes: here(nodes), links: here(links) };
}

const STRONG = 0.1; // of the strongest: what contributes less has no sign, or signs would hide the map

// Draws what speaks for the picked node's answer, solid with a plus, and against it, dashed with a
// minus; the wider, the stronger.
function drawReasons(ink, { data, scene }, { screen, visible, size, mark }) {
  const { nodes, links } = reasonsOnMap(scene, visible, data.reasons);
  const [support, oppose] = data.reasons.colours;
  ink.lineCap = "butt";
  for (const [one, other, value] of links.reverse()) {
    ink.strokeStyle = value > 0 ? support : oppose;
    ink.lineWidth = 1.5 + 4 * Math.abs(value);
    ink.setLineDash(value > 0 ? [] : [7, 4]);
    ink.beginPath();
    ink.moveTo(...screen(one));
    ink.lineTo(...screen(other));
    ink.stroke();
  }
  ink.setLineDash([]);
  ink.font = `700 ${data.font}px ${data.face}`;
  [ink.textAlign, ink.textBaseline, ink.lineJoin] = ["center", "middle", "round"];
  for (const [node, value] of nodes.reverse()) {
    const [u, v] = screen(node);
    const large = Math.max(7, 1.5 * size);
    mark(node, large);
    const colour = value > 0 ? support : oppose;
    ring(ink, u, v, large / 2 + 2, 1 + 2 * Math.abs(value), [colour, data.paper]);
    if (Math.abs(value) < STRONG) continue;
    const at = [value > 0 ? "+" : "−", u + large / 2 + 8, v - large / 2 - 5];
    [ink.strokeStyle, ink.fillStyle, ink.lineWidth] = [data.paper, colour, 4];
    ink.strokeText(...at);
    ink.fillText(...at);
  }
}

// Says on the map which line is which.
export function showReasons(box, reasons) {
  box.hidden = !reasons;
  const [answer, rival] = reasons?.names ?? [];
  const words = { support: `+ speaks for ${answer}`, oppose: `− speaks for ${rival}` };
  box.replaceChildren();
  for (const [k, kind] of ["support", "oppose"].entries()) {
    if (!reasons) return;
    const line = element(box, "span", kind);
    element(line, "i").style.borderColor = reasons.colours[k];
    line.append(` ${words[kind]}`);
  }
}

// Draws a node with its links and neighbours.
export function drawHighlighted(ink, { data, layer, scene }, node, { screen, visible, colour, size }) {
  const near = scene.neighbours(node).filter(visible);
  const [x, y] = screen(node);
  const changed = (numbers) => (node === data.node ? (numbers ?? []).map((n) => scene.at(n)) : []);
  const [cut, joined] = [new Set(changed(data.cut)), changed(data.joined)];
  const told = node === data.node && data.reasons; // the other links then step back
  ink.lineWidth = told ? 1 : 1.7;
  ink.globalAlpha = told ? 0.3 : near.length > 200 ? 0.4 : 0.9;
  for (const other of near) {
    ink.strokeStyle = colour(other);
    ink.setLineDash(cut.has(other) ? [2, 6] : []);
    ink.beginPath();
    ink.moveTo(x, y);
    ink.lineTo(...screen(other));
    ink.stroke();
  }
  ink.setLineDash([]);
  ink.globalAlpha = 1;
  const there = joined.filter((other) => other >= 0 && visible(other));
  [ink.strokeStyle, ink.lineWidth] = [data.accent, 3];
  for (const other of there) {
    ink.beginPath();
    ink.moveTo(x, y);
    ink.lineTo(...screen(other));
    ink.stroke();
  }
  const mark = (i, d) => {
    const [u, v] = screen(i);
    marker(ink, u, v, d, layer.shapes[i], colour(i), data.paper);
  };
  for (const other of [...near].filter((other) => !cut.has(other)).concat(there)) mark(other, Math.max(7, 1.5 * size));
  if (told) drawReasons(ink, { data, scene }, { screen, visible, size, mark });
  const large = Math.max(11, 2 * size);
  mark(node, large);
  ring(ink, x, y, large / 2 + 4, 1.5, [data.text, data.paper]);
}

// Draws the picked node of a thinned map, which may itself not be among the nodes drawn.
export function drawFocus(ink, [x, y], near, { size, text, paper, links }) {
  ink.strokeStyle = ink.fillStyle = text;
  ink.lineWidth = 1.2;
  ink.globalAlpha = near.length > 60 ? 0.35 : 0.7;
  ink.beginPath();
  for (const [u, v] of links ? near : []) {
    ink.moveTo(x, y);
    ink.lineTo(u, v);
    ink.moveTo(u + 2, v);
    ink.arc(u, v, 2, 0, 2 * Math.PI);
  }
  ink.stroke();
  ink.globalAlpha = 1;
  ring(ink, x, y, Math.max(9, size) / 2 + 6, 3, [text, paper]);
}

export function ring(ink, x, y, radius, thick, [text, paper]) {
  for (const [colour, line] of [
    [paper, thick + 3],
    [text, thick],
  ]) {
    ink.beginPath();
    ink.arc(x, y, radius, 0, 2 * Math.PI);
    ink.strokeStyle = colour;
    ink.lineWidth = line;
    ink.stroke();
  }
}

// Rings the nodes of the lasso.
export function drawGroup(ink, nodes, { screen, visible, size }, colour) {
  ink.strokeStyle = colour;
  ink.lineWidth = 1.5;
  ink.beginPath();
  for (const node of nodes) {
    if (!visible(node)) continue;
    const [x, y] = screen(node);
    ink.moveTo(x + size / 2 + 2, y);
    ink.arc(x, y, size / 2 + 2, 0, 2 * Math.PI);
  }
  ink.stroke();
}

export function drawLasso(ink, points, colour) {
  ink.beginPath();
  for (const point of points) ink.lineTo(...point);
  ink.closePath();
  ink.strokeStyle = ink.fillStyle = colour;
  ink.lineWidth = 1.5;
  ink.stroke();
  ink.globalAlpha = 0.12;
  ink.fill();
  ink.globalAlpha = 1;
}

// Writes class names at the centres of their regions, the largest first, beside the tools; a name
// without room is left out. Returns the boxes that they take.
const NARROW = 420; // pixels of a map, as where two share a window

export function drawNames(ink, { data, scene, tools }, toScreen, [width, height], alpha) {
  const size = width < NARROW ? 0.8 * data.font : data.font; // the names are not to hide the map
  ink.font = `600 ${size}px ${data.face}`;
  ink.textAlign = "center";
  ink.textBaseline = "middle";
  ink.lineJoin = "round";
  const taken = [];
  const high = 1.35 * size;
  for (const { name, x, y } of scene.regions) {
    const [u, v] = toScreen(x, y);
    if (u < 0 || v < 0 || u > width || v > height) continue;
    const half = ink.measureText(name).width / 2 + 4;
    if (2 * half > width) continue;
    const right = v < tools.low + high ? tools.left : width;
    const left = Math.min(right - half, Math.max(half, u));
    const free = [0, 1, -1, 2, -2]
      .map((step) => v + step * high)
      .find(
        (top) =>
          top > high && top < height - high &&
          taken.every((box) => Math.abs(box.v - top) > high || Math.abs(box.u - left) > box.half + half),
      );
    if (free === undefined) continue;
    taken.push({ u: left, v: free, half });
    write(ink, name, left, free, size, data, alpha);
  }
  return taken.map(({ u, v, half }) => ({
    left: u - half, right: u + half, top: v - high / 2, bottom: v + high / 2,
  }));
}

// Writes a text in the colour of the page's text, with a halo in that of its paper.
function write(ink, words, x, y, size, { paper, text }, alpha = 1) {
  ink.globalAlpha = 0.85 * alpha;
  ink.lineWidth = size / 3.2;
  ink.strokeStyle = paper;
  ink.strokeText(words, x, y);
  ink.globalAlpha = alpha;
  ink.fillStyle = text;
  ink.fillText(words, x, y);
  ink.globalAlpha = 1;
}

/**
 * Writes the names of nodes beside them: the lit node and its neighbours; without one, the nodes in
 * sight, once they are far enough apart.
 */
export function drawLabels(ink, { data, scene, tools }, lit, { screen, visible, size, width, height }, taken) {
  if (!scene.named || !scene.ids) return;
  const degree = (node) => scene.neighbours(node).length;
  const byDegree = (nodes) => nodes.sort((a, b) => degree(b) - degree(a));
  scene.byDegree ??= byDegree(Uint32Array.from({ length: scene.n }, (_, node) => node));
  const near = lit < 0 ? scene.byDegree : [lit, ...byDegree([...scene.neighbours(lit)])];
  const font = 0.8 * data.font;
  ink.font = `${font}px ${data.face}`;
  ink.textAlign = "left";
  ink.textBaseline = "middle";
  ink.lineJoin = "round";
  const name = (node) => cut(nameOf(scene, node) ?? "");
  const corner = { left: tools.left, right: width, top: 0, bottom: tools.low };
  const labels = placeLabels(near, {
    at: (node) => (visible(node) ? screen(node) : null),
    wide: (node) => ink.measureText(name(node)).width,
    high: 1.25 * font,
    gap: (node) => (lit < 0 ? size / 2 : node === lit ? Math.max(9, size) / 2 + 7 : Math.max(7, 1.5 * size) / 2) + 3,
    width, height, taken: [...taken, corner], crowded: lit < 0,
  });
  for (const { node, left, middle } of labels) write(ink, name(node), left, middle, font, data);
}

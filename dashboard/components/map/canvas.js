// Draws the map in a plain canvas, for browsers without WebGL2; and the markers of the overlay.

import { HIDDEN } from "./paint.js";
import { createWebglPainter } from "./webgl.js";

/**
 * @param {HTMLCanvasElement} canvas
 * @param {import("./types.js").Scene} scene
 * @param {Uint8Array} shapes
 * @returns {import("./types.js").Painter | null}
 */
function createCanvasPainter(canvas, scene, shapes) {
  const ink = canvas.getContext("2d");
  if (!ink) return null;
  /** @type {Uint8Array} */
  let before = new Uint8Array(4 * scene.n);
  /** @type {Uint8Array} */
  let after = before;
  const { links } = scene;

  return {
    kind: "canvas",
    move: (moved) => (scene = moved),
    reshape: (given) => (shapes = given),
    recolour: (old, paint) => ([before, after] = [old, paint]),
    draw(look, mixed = 1) {
      const { width, height, scale, x, y, ratio } = look;
      const paint = mixed < 0.5 ? before : after; // one step of fading is enough for a fallback
      ink.setTransform(ratio, 0, 0, ratio, 0, 0);
      ink.clearRect(0, 0, width, height);
      const { places } = scene;
      /** @returns {[number, number]} */
      const at = (i) => [
        (places[2 * i] - x) * scale + width / 2,
        height / 2 - (places[2 * i + 1] - y) * scale,
      ];
      const inSight = (u, v) => u > 0 && u < width && v > 0 && v < height;
      // Links in eight strengths: all links of one strength are one path.
      const paths = Array.from({ length: 8 }, () => new Path2D());
      for (let k = 0; k < links.length; k += 2) {
        const presence = Math.min(paint[4 * links[k] + 3], paint[4 * links[k + 1] + 3]) / 255;
        if (presence === 0) continue;
        const [[ax, ay], [bx, by]] = [at(links[k]), at(links[k + 1])];
        const faded = Math.min(1, look.linkFade / Math.hypot(ax - bx, ay - by)) ** 0.6;
        const strength = inSight(ax, ay) || inSight(bx, by) ? faded : faded * look.crossing;
        const path = paths[Math.min(7, Math.floor(8 * strength * presence))];
        path.moveTo(ax, ay);
        path.lineTo(bx, by);
      }
      ink.strokeStyle = rgb(look.ink);
      ink.lineWidth = look.linkWidth;
      for (const [k, path] of paths.entries()) {
        ink.globalAlpha = (look.linkAlpha * (k + 0.5)) / 8;
        ink.stroke(path);
      }
      ink.globalAlpha = 0.95;
      for (let i = 0; i < scene.n; i++) {
        if (paint[4 * i + 3] <= HIDDEN) continue;
        const colour = rgb(paint.subarray(4 * i, 4 * i + 3));
        marker(ink, ...at(i), look.size, shapes[i], colour, look.size > 4 ? look.paper : null);
      }
      ink.globalAlpha = 1;
    },
    finish() {},
    dispose() {},
  };
}

/**
 * The painter and its canvas. A canvas keeps its first kind of context, so each painter gets its own.
 * @param {HTMLElement} stage
 * @param {HTMLCanvasElement | null} before
 * @param {import("./types.js").MapState} map
 * @returns {[import("./types.js").Painter | null, HTMLCanvasElement | null]}
 */
export function createPainter(stage, before, { data, losses, scene, layer }) {
  /** @type {import("./types.js").Painter | null} */
  let painter = null;
  let base = before;
  const plain = data.plain || losses > 1;
  for (const make of plain ? [createCanvasPainter] : [createWebglPainter, createCanvasPainter]) {
    base?.remove();
    base = document.createElement("canvas");
    base.className = "base";
    stage.prepend(base);
    painter = make(base, scene, layer.shapes);
    if (painter) break;
  }
  return [painter, base];
}

/**
 * @param {ArrayLike<number>} colour
 */
export function rgb(colour) {
  return `rgb(${colour[0]},${colour[1]},${colour[2]})`;
}

/**
 * Circle, cross or diamond of this diameter, with a rim if it has a colour.
 * @param {CanvasRenderingContext2D} ink
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {number} shape
 * @param {string} colour
 * @param {string | null} rim
 */
export function marker(ink, x, y, size, shape, colour, rim) {
  const radius = size / 2;
  ink.beginPath();
  if (shape === 1) {
    const arm = radius * 0.85;
    ink.moveTo(x - arm, y - arm);
    ink.lineTo(x + arm, y + arm);
    ink.moveTo(x + arm, y - arm);
    ink.lineTo(x - arm, y + arm);
    ink.lineWidth = Math.max(1.4, radius * 0.6);
    ink.strokeStyle = colour;
    ink.stroke();
    return;
  }
  if (shape === 2) {
    const reach = radius * 1.3;
    ink.moveTo(x, y - reach);
    ink.lineTo(x + reach, y);
    ink.lineTo(x, y + reach);
    ink.lineTo(x - reach, y);
    ink.closePath();
  } else ink.arc(x, y, radius, 0, 2 * Math.PI);
  ink.fillStyle = colour;
  ink.fill();
  if (!rim) return;
  ink.strokeStyle = rim;
  ink.lineWidth = 0.7;
  ink.stroke();
}

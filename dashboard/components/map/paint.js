// The colour and presence of every node.

/**
 * [r, g, b] of "#rrggbb" or "rgb(r, g, b)".
 * @param {string} colour
 * @returns {number[]}
 */
export function channels(colour) {
  const short = colour.trim().match(/^#(.)(.)(.)$/);
  if (short) return short.slice(1).map((digit) => parseInt(digit + digit, 16));
  if (colour.trim().startsWith("#")) {
    return [1, 3, 5].map((k) => parseInt(colour.trim().slice(k, k + 2), 16));
  }
  return (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
}

/**
 * A function that returns the colour at a share from 0 to 1 of a scale.
 * @param {string[]} colours
 */
export function ramp(colours) {
  const stops = colours.map(channels);
  return (share) => {
    const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
    const k = Math.min(stops.length - 2, Math.floor(at));
    return stops[k].map((low, c) => low + (at - k) * (stops[k + 1][c] - low));
  };
}

export const HIDDEN = 30; // of 255: the node is not drawn, its links stay faintly
export const GONE = 0; // folded away, with its links

/**
 * Sets the presence of each node: shown by the layer, inside the range of shades, and not folded away.
 * Returns how many nodes are shown.
 * @param {Uint8Array} presence
 * @param {import("./types.js").MapState} map
 * @param {import("./types.js").Range} range
 */
export function updatePresence(presence, { scene, layer, folded }, range) {
  const [from, to] = range ?? [null, null];
  let shown = 0;
  for (let i = 0; i < scene.n; i++) {
    const shade = layer.shades[i];
    const inRange =
      (from === null || shade >= from) && (to === null || shade <= to) &&
      (range === null || Number.isFinite(shade));
    presence[i] = folded && scene.small[i] ? GONE : layer.shown[i] && inRange ? 255 : HIDDEN;
    shown += Number(presence[i] === 255);
  }
  return shown;
}

/**
 * Red, green, blue and presence of every node.
 * @param {import("./types.js").Layer} layer
 * @param {import("./types.js").MapData} data
 * @param {Uint8Array} presence
 */
export function paintNodes({ shades }, data, presence) {
  const n = shades.length;
  const paint = new Uint8Array(4 * n);
  const none = channels(data.missing);
  const stops = data.colours.map(channels);
  const { limits } = data;
  const along = limits && ramp(data.colours);
  // 256 tones, more than an eye can tell, are computed once instead of once per node.
  const table = along && Array.from({ length: 256 }, (_, k) => along(k / 255));
  for (let i = 0; i < n; i++) {
    const shade = shades[i];
    let colour = none;
    if (table && limits && Number.isFinite(shade)) {
      const share = (shade - limits[0]) / (limits[1] - limits[0]);
      colour = table[Math.round(255 * Math.min(1, Math.max(0, share)))];
    } else if (!table) colour = stops[shade] ?? none;
    paint[4 * i] = colour[0];
    paint[4 * i + 1] = colour[1];
    paint[4 * i + 2] = colour[2];
    paint[4 * i + 3] = presence[i];
  }
  return paint;
}

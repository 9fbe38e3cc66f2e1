// The geometry of a map, independent of how it is drawn: places, links, neighbours, hit testing.

/**
 * @param {import("./types.js").GraphData} graph
 * @returns {import("./types.js").Scene}
 */
export function createScene(graph) {
  const { places, links, numbers, count: n } = graph;
  const box = boundingBox(places, () => true, n);
  /** @type {any} it gets its `stretch` from the window */
  const scene = { ...graph, n, m: links.length / 2, box, grid: spatialGrid(places, n, box) };
  scene.neighbours = adjacency(links, n);
  // In an excerpt: the number that a node has in the graph; and the index of a number, or -1.
  scene.number = (i) => (numbers && i >= 0 ? numbers[i] : i);
  scene.at = (node) => {
    if (!numbers) return node < n ? node : -1;
    const i = lowerBound(numbers, node);
    return numbers[i] === node ? i : -1;
  };
  return scene;
}

/**
 * What to call a node; undefined where no names were sent.
 * @returns {any}
 * @param {{ ids: string[] | null, titles: string[] | null, named: "ids" | "titles" | null }} graph
 * @param {number} node
 */
export function nameOf({ ids, titles, named }, node) {
  return (named === "titles" && titles?.[node]) || ids?.[node];
}

/**
 * What there is to read of a node beside its name.
 * @param {{ ids: string[] | null, titles: string[] | null, named: "ids" | "titles" | null }} graph
 * @param {number} node
 */
export function aboutOf(graph, node) {
  const about = graph.titles && (graph.named === "titles" ? graph.ids : graph.titles)?.[node];
  return about === nameOf(graph, node) ? "" : about ?? "";
}

/**
 * A function that returns the neighbours of a node; `links` holds pairs of nodes, one after the other.
 * @param {ArrayLike<number> & Iterable<number>} links
 * @param {number} n
 * @returns {(node: number) => Uint32Array}
 */
export function adjacency(links, n) {
  const first = new Uint32Array(n + 1); // those of node i stand from first[i] to first[i + 1]
  for (const node of links) first[node + 1]++;
  for (let i = 0; i < n; i++) first[i + 1] += first[i];
  const near = new Uint32Array(links.length);
  const next = first.slice();
  for (let k = 0; k < links.length; k += 2) {
    near[next[links[k]]++] = links[k + 1];
    near[next[links[k + 1]]++] = links[k];
  }
  return (i) => near.subarray(first[i], first[i + 1]);
}

/**
 * The index at which `wanted` would be inserted into ascending numbers.
 * @param {ArrayLike<number>} numbers
 * @param {number} wanted
 */
export function lowerBound(numbers, wanted) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The scene, `by` times as high.
 * @param {import("./types.js").Scene} scene
 * @param {number} by
 * @returns {import("./types.js").Scene}
 */
export function stretchedScene(scene, by) {
  const places = scene.places.map((value, k) => (k % 2 ? value * by : value));
  const regions = scene.regions.map((region) => ({ ...region, y: region.y * by }));
  const box = boundingBox(places, () => true, scene.n);
  const grid = spatialGrid(places, scene.n, box);
  const { left, right, bottom, top } = scene.whole;
  const whole = { left, right, bottom: bottom * by, top: top * by };
  return { ...scene, places, regions, box, whole, grid, stretch: by };
}

/**
 * The part in sight, [left, bottom, right, top] in places of the layout, if the server has more of it
 * than was sent; else null.
 * @param {import("./types.js").Scene} scene
 * @param {import("./types.js").Box} sight
 * @returns {number[] | null}
 */
export function windowToRequest({ window: part, thinned, stretch, whole }, { left, bottom, right, top }) {
  const seen = [
    Math.max(left, whole.left), Math.max(bottom, whole.bottom) / stretch,
    Math.min(right, whole.right), Math.min(top, whole.top) / stretch,
  ];
  const side = (box) => Math.max(box[2] - box[0], box[3] - box[1]);
  const within = !part || seen.every((end, k) => (k < 2 ? end >= part[k] : end <= part[k]));
  const nearer = side(seen) < (part ? 0.28 * side(part) : 1);
  const empty = seen[0] >= seen[2] || seen[1] >= seen[3];
  return !empty && (!within || (thinned && nearer)) ? seen : null;
}

/**
 * @param {ArrayLike<number>} places
 * @param {(node: number) => boolean} counts
 * @param {number} n
 * @returns {import("./types.js").Box}
 */
function boundingBox(places, counts, n) {
  const box = { left: Infinity, right: -Infinity, bottom: Infinity, top: -Infinity };
  for (let i = 0; i < n; i++) {
    if (!counts(i)) continue;
    box.left = Math.min(box.left, places[2 * i]);
    box.right = Math.max(box.right, places[2 * i]);
    box.bottom = Math.min(box.bottom, places[2 * i + 1]);
    box.top = Math.max(box.top, places[2 * i + 1]);
  }
  return box.left <= box.right ? box : { left: -1, right: 1, bottom: -1, top: 1 };
}

/**
 * The camera that sees every node that is not folded away.
 * @param {import("./types.js").MapState} map
 * @param {number} width
 * @param {number} height
 * @returns {import("./types.js").Camera}
 */
export function wholeView({ scene, folded }, width, height) {
  const { whole, places, small, n } = scene;
  const { left, right, bottom, top } = folded ? boundingBox(places, (i) => !small[i], n) : whole;
  const room = [(width - 48) / (right - left || 1), (height - 48) / (top - bottom || 1)];
  return { x: (left + right) / 2, y: (bottom + top) / 2, scale: Math.max(1, Math.min(...room)) };
}

/**
 * How much higher to draw a layout so that it fills its window. (Its proportions mean nothing.)
 * @param {import("./types.js").Box} box
 * @param {number} shape width by height of the window
 */
export function stretchFor({ left, right, bottom, top }, shape) {
  return Math.min(1.5, Math.max(0.75, (right - left) / (top - bottom || 1) / shape));
}

// Makes the map reach the lower edge of the window, where the style sheet of the page asks for it.
export function fillWindow(host) {
  const fills = getComputedStyle(host).getPropertyValue("--bup-map-fills").trim() === "1";
  const room = globalThis.innerHeight - host.getBoundingClientRect().top - 6;
  host.style.height = fills ? `${Math.max(300, Math.floor(room))}px` : "";
}

// Pixels of the canvas per pixel of the page: those of the screen, up to six million in all.
export function canvasRatio(width, height) {
  const most = Math.max(1, Math.sqrt(6e6 / (width * height)));
  return Math.min(globalThis.devicePixelRatio || 1, 3, most);
}

/**
 * The nodes in cells of about two, so that hit testing compares a pointer with few nodes.
 * @param {ArrayLike<number>} places
 * @param {number} n
 * @param {import("./types.js").Box} box
 * @returns {import("./types.js").Grid}
 */
function spatialGrid(places, n, { left, right, bottom, top }) {
  const cell = Math.sqrt(((right - left) * (top - bottom) * 2) / n) || 1;
  const columns = Math.floor((right - left) / cell) + 1;
  const rows = Math.floor((top - bottom) / cell) + 1;
  const cellOf = (i) =>
    Math.floor((places[2 * i + 1] - bottom) / cell) * columns +
    Math.floor((places[2 * i] - left) / cell);
  const first = new Uint32Array(columns * rows + 1);
  for (let i = 0; i < n; i++) first[cellOf(i) + 1]++;
  for (let c = 0; c < columns * rows; c++) first[c + 1] += first[c];
  const inside = new Uint32Array(n);
  const next = first.slice();
  for (let i = 0; i < n; i++) inside[next[cellOf(i)]++] = i;
  return { cell, columns, rows, first, inside };
}

/**
 * The nearest node within reach for which `counts` is true; -1 if there is none.
 * @param {import("./types.js").Scene} scene
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 * @param {(node: number) => boolean} counts
 */
export function nearest({ places, grid, box }, x, y, reach, counts) {
  const { cell, columns, rows, first, inside } = grid;
  const from = (at, start) => Math.max(0, Math.floor((at - reach - start) / cell));
  const to = (at, start, most) => Math.min(most - 1, Math.floor((at + reach - start) / cell));
  let found = -1;
  let least = reach * reach;
  for (let row = from(y, box.bottom); row <= to(y, box.bottom, rows); row++) {
    for (let column = from(x, box.left); column <= to(x, box.left, columns); column++) {
      const c = row * columns + column;
      for (let k = first[c]; k < first[c + 1]; k++) {
        const i = inside[k];
        const far = (places[2 * i] - x) ** 2 + (places[2 * i + 1] - y) ** 2;
        if (far < least && counts(i)) [found, least] = [i, far];
      }
    }
  }
  return found;
}

/**
 * The nodes inside a polygon [[x, y], ...]: a line to the right crosses its sides an odd number
 * of times.
 * @param {{ places: ArrayLike<number>, n: number }} scene
 * @param {number[][]} polygon
 * @param {(node: number) => boolean} counts
 */
export function nodesInPolygon({ places, n }, polygon, counts) {
  const found = [];
  for (let i = 0; i < n; i++) {
    if (!counts(i)) continue;
    const [x, y] = [places[2 * i], places[2 * i + 1]];
    let odd = false;
    for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a++) {
      const [ax, ay] = polygon[a];
      const [bx, by] = polygon[b];
      if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) odd = !odd;
    }
    if (odd) found.push(i);
  }
  return found;
}

/**
 * A place of the stretched map as a place of the layout, rounded to four digits.
 * @param {{ stretch?: number }} scene
 * @param {number[]} place
 */
export function toLayout(scene, [x, y]) {
  return [x, y / (scene.stretch ?? 1)].map((value) => Number(value.toFixed(4)));
}

/**
 * The nodes inside a lasso whose corners are places of the layout.
 * @param {import("./types.js").Scene} scene
 * @param {number[][]} corners
 * @param {(node: number) => boolean} counts
 */
export function nodesInLasso(scene, corners, counts) {
  return nodesInPolygon(scene, corners.map(([x, y]) => [x, y * (scene.stretch ?? 1)]), counts);
}

// Where to write the names of nodes: beside them, and only those that cover no other name.

const MOST = 60; // names on a map
const ROOM = 24; // pixels from node to node, on average, below which there are no names
const LONGEST = 28; // letters

/**
 * @typedef {{ left: number, right: number, top: number, bottom: number }} Rectangle
 */

/**
 * A name as the map writes it.
 * @param {string} name
 */
export function cut(name) {
  return name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
}

/**
 * The names that fit: of `nodes`, the first ones first, on the right of a node or else around it.
 * @param {Iterable<number>} nodes
 * @param {object} view
 * @param {(node: number) => number[] | null} view.at in pixels; null: the node is hidden
 * @param {(node: number) => number} view.wide pixels of its name
 * @param {number} view.high pixels of a line
 * @param {(node: number) => number} view.gap pixels between the middle of a node and its name
 * @param {number} view.width
 * @param {number} view.height
 * @param {Rectangle[]} view.taken what else is written
 * @param {boolean} view.crowded whether there are no names at all among too many nodes in sight
 * @returns {{ node: number, left: number, middle: number }[]}
 */
export function placeLabels(nodes, { at, wide, high, gap: gapOf, width, height, taken, crowded }) {
  const most = crowded ? (width * height) / ROOM ** 2 : Infinity;
  const inSight = [];
  for (const node of nodes) {
    const [x, y] = at(node) ?? [-1, -1];
    if (x < 0 || y < 0 || x > width || y > height) continue;
    inSight.push({ node, x, y });
    if (inSight.length > most) return [];
  }
  const boxes = [...taken];
  const labels = [];
  for (const { node, x, y } of inSight) {
    if (labels.length === MOST) break;
    const [long, gap] = [wide(node), gapOf(node)];
    const spots = [
      [x + gap, y], [x - gap - long, y], [x - long / 2, y + gap + high / 2], [x - long / 2, y - gap - high / 2],
    ];
    for (const [left, middle] of spots) {
      const box = { left, right: left + long, top: middle - high / 2, bottom: middle + high / 2 };
      const inside = left >= 2 && box.right <= width - 2 && box.top >= 0 && box.bottom <= height;
      if (!inside || boxes.some((other) => overlap(box, other))) continue;
      boxes.push(box, { left: x - gap, right: x + gap, top: y - gap, bottom: y + gap });
      labels.push({ node, left, middle });
      break;
    }
  }
  return labels;
}

/**
 * @param {Rectangle} one
 * @param {Rectangle} other
 */
function overlap(one, other) {
  return (
    one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom
  );
}

import assert from "node:assert/strict";
import test from "node:test";

import { cut, placeLabels } from "../../dashboard/components/map/labels.js";

const view = { wide: () => 40, high: 10, gap: () => 5, width: 400, height: 300, taken: [], crowded: false };
const placed = (places, more = {}) => placeLabels(places.keys(), { ...view, at: (i) => places[i], ...more });
const named = (labels) => labels.map(({ node }) => node);

test("a name stands on the right of its node, or where there is room around it", () => {
  assert.deepEqual(placed([[100, 100]]), [{ node: 0, left: 105, middle: 100 }]);
  assert.deepEqual(placed([[390, 100]]), [{ node: 0, left: 345, middle: 100 }]);
  const both = [[0, 95, 105], [105, 95, 105]].map(([left, top, bottom]) => ({ left, right: left + 95, top, bottom }));
  assert.deepEqual(placed([[100, 100]], { taken: both }), [{ node: 0, left: 80, middle: 110 }]);
});

test("names never cover each other, and the first ones come first", () => {
  const places = Array.from({ length: 50 }, (_, i) => [200 + (i % 7) * 9, 150 + i]);
  const labels = placed(places);
  assert.equal(labels[0].node, 0);
  assert.ok(labels.length > 3 && labels.length < 50);
  for (const [k, one] of labels.entries()) {
    for (const other of labels.slice(k + 1)) {
      const apart = Math.abs(one.left - other.left) >= 40 || Math.abs(one.middle - other.middle) >= 10;
      assert.ok(apart, `${one.node} and ${other.node}`);
    }
  }
});

test("hidden nodes and those out of sight have no name", () => {
  assert.deepEqual(named(placed([null, [500, 100], [100, -4], [100, 100]])), [3]);
});

test("among too many nodes there are no names, unless they are asked for", () => {
  const many = Array.from({ length: 300 }, (_, i) => [10 + (i % 20) * 19, 10 + Math.floor(i / 20) * 19]);
  assert.deepEqual(placed(many, { crowded: true }), []);
  assert.ok(placed(many).length > 5);
  assert.ok(placed(many.slice(0, 100), { crowded: true }).length > 5);
});

test("a map has at most sixty names, and a long one is cut", () => {
  const many = Array.from({ length: 200 }, (_, i) => [(i % 10) * 60, Math.floor(i / 10) * 20 + 20]);
  assert.equal(placed(many, { width: 4000, height: 4000 }).length, 60);
  assert.equal(cut("a".repeat(40)), `${"a".repeat(27)}…`);
  assert.equal(cut("octopus"), "octopus");
});

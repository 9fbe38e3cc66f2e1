import assert from "node:assert/strict";
import test from "node:test";

import {
  adjacency, createScene, lowerBound, nearest, nodesInLasso, nodesInPolygon, stretchFor, stretchedScene,
  toLayout, wholeView, windowToRequest,
} from "../../dashboard/components/map/scene.js";

const all = () => true;

/** A square of four nodes, linked around, and a fifth far from it without links. */
function graph(changes = {}) {
  return {
    count: 5,
    places: Float32Array.from([-0.5, -0.5, 0.5, -0.5, 0.5, 0.5, -0.5, 0.5, 1, 1]),
    links: Uint32Array.from([0, 1, 1, 2, 2, 3, 0, 3]),
    numbers: null,
    small: Uint8Array.from([0, 0, 0, 0, 1]),
    whole: { left: -0.5, bottom: -0.5, right: 1, top: 1 },
    regions: [{ name: "a", x: 0.5, y: 0.5, nodes: 5 }],
    all: [5, 4],
    window: null,
    thinned: false,
    ...changes,
  };
}

test("neighbours of every node are those of its links", () => {
  const links = [0, 1, 1, 2, 0, 2, 2, 3];
  const neighbours = adjacency(links, 5);
  const expected = [[1, 2], [0, 2], [0, 1, 3], [2], []];
  assert.deepEqual(expected.map((_, i) => [...neighbours(i)].sort()), expected);
});

test("a lower bound is where a sorted number would be put", () => {
  const numbers = [1, 3, 3, 7];
  for (let wanted = 0; wanted < 9; wanted++) {
    assert.equal(lowerBound(numbers, wanted), numbers.filter((n) => n < wanted).length);
  }
});

test("an excerpt knows its nodes by their numbers in the graph", () => {
  const whole = createScene(graph());
  assert.deepEqual([0, 4, 5].map(whole.at), [0, 4, -1]);
  assert.equal(whole.number(3), 3);
  const part = createScene(graph({ numbers: Uint32Array.from([2, 3, 5, 7, 11]) }));
  assert.deepEqual([2, 11, 4, 12].map(part.at), [0, 4, -1, -1]);
  assert.deepEqual([0, 4, -1].map(part.number), [2, 11, -1]);
});

test("the nearest node within reach is found, as by looking at all of them", () => {
  const count = 400;
  const places = Float32Array.from({ length: 2 * count }, (_, k) => Math.sin(12.9898 * (k + 1)) );
  const scene = createScene(graph({ count, places, links: new Uint32Array(), small: new Uint8Array(count) }));
  const odd = (i) => i % 2 === 1;
  for (let k = 0; k < 200; k++) {
    const [x, y, reach] = [Math.cos(k), Math.sin(3 * k), 0.01 + 0.002 * k];
    let [best, least] = [-1, reach * reach];
    for (let i = 1; i < count; i += 2) {
      const far = (places[2 * i] - x) ** 2 + (places[2 * i + 1] - y) ** 2;
      if (far < least) [best, least] = [i, far];
    }
    assert.equal(nearest(scene, x, y, reach, odd), best);
  }
});

test("nodes inside a polygon, and inside a lasso on a stretched map", () => {
  const scene = createScene(graph());
  const triangle = [[-1, -1.2], [0.9, -1.2], [0.9, 0.4]];
  assert.deepEqual(nodesInPolygon(scene, triangle, all), [1]);
  const stretched = stretchedScene(scene, 1.5);
  const corners = [[0, 0], [0.8, 0], [0.8, 0.8], [0, 0.8]];
  assert.deepEqual(nodesInLasso(stretched, corners, all), [2]);
  assert.deepEqual(nodesInLasso(stretched, corners, (i) => i !== 2), []);
  assert.deepEqual(toLayout(stretched, [0.25, 0.75]), [0.25, 0.5]);
  assert.equal(stretched.regions[0].y, 0.75);
});

test("the camera sees the whole map, without what is folded away", () => {
  const scene = createScene(graph());
  const map = { scene, folded: false };
  assert.deepEqual(wholeView(map, 348, 648), { x: 0.25, y: 0.25, scale: 200 });
  assert.deepEqual(wholeView({ scene, folded: true }, 348, 648), { x: 0, y: 0, scale: 300 });
});

test("a map is stretched towards the shape of its window, within limits", () => {
  const square = { left: -1, right: 1, bottom: -1, top: 1 };
  assert.equal(stretchFor(square, 1), 1);
  assert.equal(stretchFor(square, 1.25), 0.8);
  assert.equal(stretchFor(square, 10), 0.75);
  assert.equal(stretchFor(square, 0.1), 1.5);
});

test("a part of the graph is asked for where there is more of it to see", () => {
  const whole = { left: -1, right: 1, bottom: -1, top: 1 };
  const sight = { left: -0.2, right: 0.2, bottom: -0.2, top: 0.2 };
  const ask = (about, view = sight) => windowToRequest({ window: null, thinned: false, stretch: 1, whole, ...about }, view);
  assert.equal(ask({}), null);
  assert.deepEqual(ask({ thinned: true }), [-0.2, -0.2, 0.2, 0.2]);
  assert.deepEqual(ask({ thinned: true, stretch: 2 }), [-0.2, -0.1, 0.2, 0.1]);
  assert.equal(ask({ window: [-0.5, -0.5, 0.5, 0.5] }), null);
  assert.deepEqual(ask({ window: [0, 0, 0.5, 0.5] }), [-0.2, -0.2, 0.2, 0.2]);
  assert.equal(ask({ thinned: true }, { left: 2, right: 3, bottom: 2, top: 3 }), null);
});

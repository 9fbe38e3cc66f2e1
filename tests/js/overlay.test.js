import assert from "node:assert/strict";
import test from "node:test";

import { reasonsOnMap } from "../../dashboard/components/map/overlay.js";

test("reasons are lit where their nodes are on the map, as shares of the strongest", () => {
  const scene = { at: (number) => (number === 9 ? -1 : number - 1) };
  const reasons = {
    nodes: [[3, -2], [9, 1.5], [4, 1], [5, 0.5]],
    links: [[1, 3, -4], [1, 9, 3], [4, 1, 1], [1, 5, 1]],
  };
  assert.deepEqual(reasonsOnMap(scene, (node) => node !== 4, reasons), {
    nodes: [[2, -1], [3, 0.5]],
    links: [[0, 2, -1], [3, 0, 0.25]],
  });
  const none = { nodes: [], links: [] };
  assert.deepEqual(reasonsOnMap(scene, () => true, none), none);
});

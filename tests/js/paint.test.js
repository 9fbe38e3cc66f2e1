import assert from "node:assert/strict";
import test from "node:test";

import { formatShade, shadeValue } from "../../dashboard/components/map/legend.js";
import { GONE, HIDDEN, channels, paintNodes, ramp, updatePresence } from "../../dashboard/components/map/paint.js";

test("colours are read however they are written", () => {
  assert.deepEqual(channels(" #0072B2"), [0, 114, 178]);
  assert.deepEqual(channels("#fa0"), [255, 170, 0]);
  assert.deepEqual(channels("rgb(1, 20, 255)"), [1, 20, 255]);
});

test("a ramp mixes the colours on either side", () => {
  const along = ramp(["#000000", "#646464", "#ffffff"]);
  assert.deepEqual([-1, 0.25, 0.5, 2].map((share) => along(share)[0]), [0, 50, 100, 255]);
});

test("nodes are there unless filtered, out of the range or folded away", () => {
  const layer = { shades: Float32Array.from([0, 1, 2, NaN, 1]), shown: [1, 1, 1, 1, 0] };
  const scene = { n: 5, small: [0, 1, 0, 0, 0] };
  const presence = new Uint8Array(5);
  const count = (folded, range) => updatePresence(presence, { scene, layer, folded }, range);
  assert.equal(count(false, null), 4);
  assert.deepEqual([...presence], [255, 255, 255, 255, HIDDEN]);
  assert.equal(count(false, [1, 1.5]), 1);
  assert.deepEqual([...presence], [HIDDEN, 255, HIDDEN, HIDDEN, HIDDEN]);
  assert.equal(count(true, [0.5, null]), 1);
  assert.deepEqual([...presence], [HIDDEN, GONE, 255, HIDDEN, HIDDEN]);
});

test("nodes are painted by the place of their shade on the scale, or by category", () => {
  const presence = Uint8Array.from([255, 30, 255]);
  const data = { missing: "#010203", colours: ["#000000", "#ffffff"], limits: [0, 10] };
  const scale = paintNodes({ shades: Float32Array.from([10, 0, NaN]) }, data, presence);
  assert.deepEqual([...scale], [255, 255, 255, 255, 0, 0, 0, 30, 1, 2, 3, 255]);
  const kinds = paintNodes({ shades: Float32Array.from([1, 0, 7]) }, { ...data, limits: null }, presence);
  assert.deepEqual([...kinds], [255, 255, 255, 255, 0, 0, 0, 30, 1, 2, 3, 255]);
});

test("shades are written as the numbers that they stand for", () => {
  assert.equal(shadeValue("log", 2), 99);
  assert.equal(shadeValue("minus", 0.5), -0.5);
  assert.equal(formatShade({ turn: "log" }, 2), "99");
  assert.equal(formatShade({ turn: "minus" }, -0.98765), "0.988");
  assert.equal(formatShade({ turn: "" }, 0.5), "0.5");
});

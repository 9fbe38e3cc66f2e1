import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";

import { decodeDeltaVarint, openParcel } from "../../dashboard/components/map/parcels.js";

// Written by Python: tests/dashboard/components/test_parcels.py checks the same parcels.
const file = new URL("parcels.json", import.meta.url);
const { numbers, graph, layer } = JSON.parse(await readFile(file, "utf-8"));
const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));

test("ascending numbers come back", () => {
  for (const { values, encoded } of numbers) assert.deepEqual(decodeDeltaVarint(bytes(encoded)), values);
});

test("a graph comes back, wherever its bytes lie", () => {
  const content = bytes(graph.content);
  const shifted = new Uint8Array(content.length + 3).subarray(3);
  shifted.set(content);
  for (const given of [content, shifted]) {
    const opened = openParcel(given);
    assert.deepEqual([...opened.links], graph.links.flat());
    assert.deepEqual([...opened.small], graph.small);
    assert.deepEqual(opened.ids, graph.ids);
    assert.equal(opened.numbers, null);
    graph.places.flat().forEach((place, k) => assert.ok(Math.abs(opened.places[k] - place) < 2e-5));
  }
  assert.equal(openParcel(content), openParcel(content)); // opened once
});

test("a layer comes back, with what has no shade", () => {
  const opened = openParcel(bytes(layer.content));
  assert.deepEqual([...opened.shown], layer.shown);
  assert.deepEqual([...opened.said], layer.said);
  layer.shades.forEach((shade, k) => {
    if (shade === null) assert.ok(Number.isNaN(opened.shades[k]));
    else assert.ok(Math.abs(opened.shades[k] - shade) < 1e-4);
  });
});

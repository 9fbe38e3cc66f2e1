import assert from "node:assert/strict";
import test from "node:test";

import { nodeLines, sentences } from "../../dashboard/components/map/description.js";

function map({ said = 0, truth = 0, shape = 0, shade = 0.25, scene = {}, data = {} } = {}) {
  return {
    scene: {
      noun: ["paper", "papers"], classes: ["<b>Theory</b>", "Rules"], ids: ["p7"], titles: null, named: null, thinned: false,
      number: (i) => i, neighbours: () => [1, 2], ...scene,
    },
    layer: { said: [said], truth: [truth], shapes: [shape], shades: Float32Array.from([shade, 0, 0.5, NaN]) },
    data: { limits: [0, 1], label: "Doubt", doubt: true, turn: "", ...data },
  };
}

test("a node in words: id, answer, truth, score with its rank, links", () => {
  assert.deepEqual(nodeLines(map(), 0), [
    "Paper p7", "Says <b>Theory</b>. That is right.", "Doubt 0.25, higher than for 33% of papers", "2 links",
  ]);
  const titled = { titles: ["On maps"], neighbours: () => [1], thinned: true };
  const [name, about, , , links] = nodeLines(map({ scene: titled }), 0);
  assert.deepEqual([name, about, links], ["Paper p7", "On maps", "1 link drawn, zoom in for all"]);
});

test("a node is called by its title where ids are mere numbers, and by its id where it has none", () => {
  const lines = (titles) => nodeLines(map({ scene: { titles, named: "titles" } }), 0).slice(0, 2);
  assert.deepEqual(lines(["Ann"]), ["Ann", "p7"]);
  assert.deepEqual(lines([""]), ["p7", "Says <b>Theory</b>. That is right."]);
});

test("a node that is wrong, unseen or without a class", () => {
  const verdict = (about) => nodeLines(map(about), 0)[1];
  assert.equal(verdict({ truth: 1, shape: 1 }), "Says <b>Theory</b>. In truth Rules.");
  assert.equal(verdict({ truth: 1, shape: 2 }), "Says <b>Theory</b>. In truth Rules, a class never shown.");
  assert.equal(verdict({ truth: -1 }), "Says <b>Theory</b>. Its class is not known.");
});

test("a node without a score, and one coloured by category", () => {
  assert.equal(nodeLines(map({ shade: NaN }), 0)[2], "Doubt none");
  assert.equal(nodeLines(map({ data: { limits: null } }), 0)[2], "2 links");
});

test("lines become sentences", () => {
  assert.equal(sentences(["One", "Two.", "Three?"]), "One. Two. Three?");
});

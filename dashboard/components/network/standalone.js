// What a network as a file of its own does once vis-network has drawn it. `network` and `nodes` are
// vis-network's variables; Python writes `settings` before this script.

import { drawCrosses } from "./crosses.js";

const drawn = globalThis.network;
const { fontSize, named } = globalThis.settings;

drawCrosses(drawn);
drawn.once("stabilizationIterationsDone", () => {
  const size = fontSize / (globalThis.nodes.length <= named ? drawn.getScale() : 1);
  drawn.setOptions({ physics: false, nodes: { font: { size } } });
});
drawn.on("doubleClick", () => drawn.fit());

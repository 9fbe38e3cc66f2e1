// The script of a downloaded network. `network` and `nodes` are variables of pyvis's template; Python writes `settings` before this script.

import { drawCrosses } from "./crosses.js";

const drawn = globalThis.network;
const { fontSize, named } = globalThis.settings;

drawCrosses(drawn);
drawn.once("stabilizationIterationsDone", () => {
  const size = fontSize / (globalThis.nodes.length <= named ? drawn.getScale() : 1);
  drawn.setOptions({ physics: false, nodes: { font: { size } } });
});
drawn.on("doubleClick", () => drawn.fit());

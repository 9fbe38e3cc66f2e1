// What a network as a file of its own does once vis-network has drawn it: `network` and `nodes` are
// vis-network's, `settings` is written before this script.
/* global network, nodes, settings */

import { drawCrosses } from "./crosses.js";

drawCrosses(network);
network.once("stabilizationIterationsDone", () => {
  const size = settings.fontSize / (nodes.length <= settings.named ? network.getScale() : 1);
  network.setOptions({ physics: false, nodes: { font: { size } } });
});
network.on("doubleClick", () => network.fit());

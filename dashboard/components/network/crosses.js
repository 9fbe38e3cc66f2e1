// A cross over every node that is predicted wrongly: the same sign as on the map.
export function drawCrosses(network) {
  network.on("afterDrawing", (context) => {
    const at = network.getPositions();
    context.save();
    context.lineCap = "round";
    for (const { id, cross, size, shape } of network.body.data.nodes.get()) {
      if (!cross || !at[id]) continue;
      const { x, y } = at[id];
      const arm = (shape === "star" ? 0.25 : 0.45) * size;
      context.lineWidth = Math.max(2, 0.16 * size);
      context.strokeStyle = cross;
      context.beginPath();
      context.moveTo(x - arm, y - arm);
      context.lineTo(x + arm, y + arm);
      context.moveTo(x - arm, y + arm);
      context.lineTo(x + arm, y - arm);
      context.stroke();
    }
    context.restore();
  });
}

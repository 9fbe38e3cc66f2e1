// A cell of a notebook: an exported page in a frame, whose selection is that of the widget.

import { create } from "../components/shared/elements.js";

function render({ model, el }) {
  const frame = create("iframe", {
    srcdoc: model.get("page"),
    sandbox: "allow-scripts",
    title: "Map",
    style: `width: 100%; height: ${model.get("height")}px; border: 0`,
  });
  const pick = () => frame.contentWindow?.postMessage(model.get("selection"), "*");
  const onMessage = ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    if (data === "ready") return pick();
    model.set("selection", data);
    model.save_changes();
  };
  globalThis.addEventListener("message", onMessage);
  model.on("change:selection", pick);
  el.append(frame);
  return () => {
    globalThis.removeEventListener("message", onMessage);
    model.off("change:selection", pick);
  };
}

export default { render };

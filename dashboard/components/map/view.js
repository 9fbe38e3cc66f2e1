// Streamlit calls this first, and again when the data or the theme change. It is small, because it
// travels with every message: library, graph, layer and look are fetched.

import { bytes, fetchOnce, importModule, json } from "../shared/fetch.js";

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const host = parentElement.querySelector(".bup-map");
  const state = (host.bup ??= {});
  state.data = data;
  const send = (name, value) => (name === "range" ? setStateValue : setTriggerValue)(name, value);
  const files = [fetchOnce(data.graph, bytes), fetchOnce(data.layer, bytes), fetchOnce(data.look, json)];
  const parts = [importModule(data.library), ...files];
  Promise.all(parts).then(
    ([{ createMap, openParcel }, graph, layer, look]) => {
      if (state.data !== data || state.gone) return;
      const style = getComputedStyle(host);
      const own = (name) => style.getPropertyValue(name).trim();
      if (!state.map) host.replaceChildren();
      state.map ??= createMap(host);
      state.map.update(
        {
          ...look,
          ...data,
          paper: own("--st-background-color") || look.paper,
          face: own("--st-font") || "sans-serif",
        },
        openParcel(graph),
        openParcel(layer),
        send,
      );
    },
    () => state.map || host.replaceChildren("The map could not be loaded: reload the page."),
  );
  return () => {
    state.gone = true;
    state.map?.dispose();
    delete host.bup;
  };
}

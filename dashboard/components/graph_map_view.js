// What Streamlit calls, at first and again whenever the data or the theme change. Small, because it
// travels with every message: the library, the graph and its looks are brought by others.
export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const host = parentElement.querySelector(".bup-map");
  const state = (host.bup ??= {});
  state.data = data;
  const send = (name, value) => (name === "range" ? setStateValue : setTriggerValue)(name, value);
  (function look() {
    if (state.data !== data || state.gone) return;
    const make = globalThis.bupGraphMap;
    const [graph, layer] = [data.graph, data.layer].map((digest) => make?.parcel(digest));
    if (!graph || !layer) return void setTimeout(look, 15);
    const style = getComputedStyle(host);
    const own = (name) => style.getPropertyValue(name).trim();
    state.map ??= make.createMap(host);
    state.map.update(
      { ...data, paper: own("--st-background-color") || data.paper, face: own("--st-font") || "sans-serif" },
      graph,
      layer,
      send,
    );
  })();
  return () => {
    state.gone = true;
    state.map?.dispose();
    delete host.bup;
  };
}

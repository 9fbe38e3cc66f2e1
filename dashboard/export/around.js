// A page in a cell of a notebook tells the cell what is picked, and picks what the cell says.

import { content, go, state } from "./state.js";

let told = JSON.stringify({ node: null, lasso: [] });
let following = false;

export function tellCell() {
  const selection = { node: state.node < 0 ? null : state.node, lasso: state.group?.nodes ?? [] };
  const text = JSON.stringify(selection);
  if (content.kind !== "cell" || following || text === told) return;
  told = text;
  globalThis.parent.postMessage(selection, "*");
}

export function followCell() {
  if (content.kind !== "cell") return;
  globalThis.addEventListener("message", ({ source, data: { node, lasso } }) => {
    const text = JSON.stringify({ node, lasso });
    if (source !== globalThis.parent || text === told) return;
    told = text;
    following = true;
    go({ node: node ?? -1, group: null });
    if (lasso.length) go({ group: { title: "chosen in Python", nodes: lasso } });
    following = false;
  });
  globalThis.parent.postMessage("ready", "*");
}

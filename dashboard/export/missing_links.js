// What a run would answer if a link were missing: computed beforehand, for some nodes.

import { create } from "../components/shared/elements.js";
import { percent } from "../components/shared/numbers.js";
import { content, go, graph } from "./state.js";
import { counted, strong, table } from "./words.js";

const button = (node) => create(
  "button", { type: "button", class: "plainButton", title: graph.titles?.[node], onclick: () => go({ node, group: null }) },
  graph.ids[node],
);

// The parts of the panel of a node; empty where the page has no such answers.
export function missingLinks(run, node) {
  const count = Object.keys(run.missing ?? {}).length;
  if (!count) return [];
  const name = "What if a link were missing?";
  const links = run.missing[node];
  if (!links?.length) {
    const words = links ? "No link leads to this answer." :
      `This was computed beforehand for the ${counted(count, content.noun)} with the least sure answers.`;
    return [create("h3", {}, name), create("p", { class: "words" }, words)];
  }
  const rows = links.map(([a, b, answer, share]) => {
    const other = content.classes[answer];
    const said = answer === run.said[node] ? ["still ", other] : ["then ", strong(other)];
    return [
      create("span", {}, button(a), " – ", button(b)),
      create("span", {}, ...said, share === null ? "" : `, ${percent(share, 0)} sure`),
    ];
  });
  return [
    create("h3", {}, name),
    table({ class: "plain", "aria-label": name }, ["Without the link", "The answer is"], rows),
  ];
}

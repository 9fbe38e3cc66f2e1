// Why a run answers as it does, and what it would answer without a link: computed beforehand.

import { create } from "../components/shared/elements.js";
import { fetchOnce } from "../components/shared/fetch.js";
import { percent } from "../components/shared/numbers.js";
import { inflateAnswer } from "./decode.js";
import { content, go, graph, runs } from "./state.js";
import { byId, counted, strong, table } from "./words.js";

const AWAY = ["itself", "linked", "two links away"];

// The parts of the panel of a node; empty where the page has no explanations.
export function explanation(run, node) {
  const { explained } = run;
  if (!explained) return [];
  const head = create("h3", {}, "Why this answer?");
  if (explained.none) return [head, create("p", { class: "words" }, explained.none)];
  const place = create("div", {}, create("p", { class: "words" }, "Loading ..."));
  const number = `${runs.indexOf(run)}-${Math.floor(node / explained.chunk)}`;
  const path = new URL(`explained-${number}.bin`, new URL(byId("document").dataset.file, document.baseURI));
  fetchOnce(path.href, async (answer) => JSON.parse(await inflateAnswer(answer))).then(
    (found) => place.replaceChildren(...partsOf(explained, found[node % explained.chunk])),
    () => place.replaceChildren(create("p", { class: "words" }, "This could not be fetched: pick it again.")),
  );
  return [head, place];
}

const className = (code) => content.classes[code];
const button = (node) => create(
  "button", { type: "button", class: "plainButton", title: graph.titles?.[node], onclick: () => go({ node }) }, graph.ids[node],
);
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

function partsOf({ changed }, { classes: [answer, rival], gap, reasons, links }) {
  const named = reasons.some(([, , , , words]) => words.length);
  const rows = reasons.map(([node, value, away, told, words]) => [
    button(node), signed(value), `${AWAY[away]}${told ? ", class known" : ""}`, ...(named ? [words.join(", ")] : []),
  ]);
  return [
    create("p", { class: "words" }, "What speaks for ", strong(className(answer)), " (+) and for ",
      strong(className(rival)), ` (−), the strongest first. All within reach together: ${signed(gap)}.`),
    table({ class: "plain", "aria-label": "Why this answer?" }, ["Whose words", "", "Where", ...(named ? ["Words"] : [])], rows),
    create("h3", {}, "What if a link were missing?"),
    ...missing(answer, links, changed),
  ];
}

function missing(answer, links, changed) {
  const say = (words) => [create("p", { class: "words" }, words)];
  if (!links) {
    return say(changed
      ? `This was computed beforehand for the ${counted(changed, content.noun)} with the least sure answers.`
      : "This was not computed for this run.");
  }
  if (!links.length) return say("No link leads to this answer.");
  const rows = links.map(([a, b, other, share]) => [
    create("span", {}, button(a), " – ", button(b)),
    create("span", {}, other === answer ? "still " : "then ", other === answer ? className(other) : strong(className(other)),
      share === null ? "" : `, ${percent(share, 0)} sure`),
  ]);
  return [table({ class: "plain", "aria-label": "What if a link were missing?" }, ["Without the link", "The answer is"], rows)];
}

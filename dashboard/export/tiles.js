// A large graph, of which the page has a part: the rest is in files beside it, see tiles.py.

import { openParcel } from "../components/map/parcels.js";
import { fetchOnce } from "../components/shared/fetch.js";
import { decodeBase64, inflateAnswer, numbers, shadesOf } from "./decode.js";

const open = async (answer) => JSON.parse(await inflateAnswer(answer));
const openPart = async (answer) => openParcel(decodeBase64(await open(answer)));

// The graph, with what has been fetched so far of its nodes, and how to fetch more. `first` is the
// part in the first picture.
export async function openTiles({ tiles, words, runs: packed }, first, runs) {
  const ids = await fetchOnce(tiles.ids, open);
  const titles = first.titles && {};
  const graph = { count: ids.length, named: first.named, ids, titles };
  const [near, focus, here] = [{}, {}, new Set()];

  function keepTitles(part) {
    for (const [k, title] of (part.titles ?? []).entries()) titles[part.numbers?.[k] ?? k] = title;
    return part;
  }

  function keep({ first: start, ...chunk }) {
    Object.assign(titles ?? {}, chunk.titles);
    const count = chunk.near.length;
    for (let k = 0; k < count; k++) {
      [near[start + k], focus[start + k]] = [chunk.near[k], chunk.focus[k]];
      if (words) words[start + k] = chunk.words[k];
    }
    for (const [r, { rows, reasons, because, shades }] of chunk.runs.entries()) {
      const run = runs[r];
      const add = (map, values) => {
        const width = values.length / count;
        for (let k = 0; k < count; k++) map.set(start + k, values.subarray(k * width, (k + 1) * width));
      };
      for (const name in rows) add(run[name], numbers({ ...packed[r][name], ...rows[name] }));
      for (const name in reasons) add(run.reasons[name], numbers({ ...packed[r].reasons[name], ...reasons[name] }));
      for (const [k, sentence] of (because ?? []).entries()) run.reasons.because[start + k] = sentence;
      for (const [c, colour] of run.colours.entries()) {
        for (const [k, shade] of shadesOf(colour, shades[c]).entries()) colour.shades[start + k] = shade;
      }
    }
    here.add(start);
  }

  async function fetchColour(colour) {
    colour.shades = shadesOf(colour, await fetchOnce(colour.file, open));
    colour.file = null;
  }

  keepTitles(first);
  return {
    graph,
    neighbours: (node) => near[node],
    focus: (node) => focus[node],

    // Fetches what the node and the colours need; null if all of it is here.
    fetch(node, colours) {
      const wanted = colours.filter(({ file }) => file).map(fetchColour);
      const start = node - (node % tiles.size);
      if (node >= 0 && !here.has(start)) wanted.push(fetchOnce(tiles.chunks[start / tiles.size], open).then(keep));
      return wanted.length ? Promise.all(wanted) : null;
    },

    // The part of the map for a view: where one is whole the largest, else the smallest.
    async partFor([left, bottom, right, top]) {
      const around = tiles.windows.filter(({ window: [w, s, e, n] }) => w <= left && s <= bottom && e >= right && n >= top);
      const found = around.find(({ thinned }) => !thinned) ?? around.at(-1);
      return found ? { file: found.file, ...keepTitles(await fetchOnce(found.file, openPart)) } : first;
    },
  };
}

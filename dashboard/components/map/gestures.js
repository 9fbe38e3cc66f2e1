// Mouse, touch and keyboard on the map, and its buttons.

import { element } from "../shared/elements.js";
import { nodeLines, sentences } from "./description.js";
import { nodesInLasso, toLayout } from "./scene.js";

const STEP = 60; // pixels that an arrow key moves the map
const STILL = { touch: 10 }; // pixels within which a pointer, else 4, stays where it was: a tap

/**
 * Listens for all input on a map; returns the buttons that are sometimes hidden.
 * @param {import("./types.js").MapState} map
 * @param {HTMLElement} stage
 * @param {HTMLElement} tools
 * @param {Record<string, any>} actions
 */
export function gestures(map, stage, tools, actions) {
  const { hover, find, highlight, pan, zoom, fit, recolour, toPlace, drawAbove, visible, address, say } = actions;
  const pointers = new Map();
  let travelled = 0;
  /** @returns {[number, number]} */
  const at = ({ clientX, clientY }) => {
    const { left, top } = stage.getBoundingClientRect();
    return [clientX - left, clientY - top];
  };
  const onMap = (event) => !event.target.closest(".tools");
  const still = (event) => travelled < (STILL[event.pointerType] ?? 4);

  stage.addEventListener("pointerdown", (event) => {
    if (!onMap(event) || event.button > 0) return;
    stage.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at(event));
    if (pointers.size === 1) {
      travelled = 0;
      if (event.shiftKey || map.lassoing) map.lasso = [at(event)];
    } else map.lasso = null;
  });

  stage.addEventListener("pointermove", (event) => {
    const [u, v] = at(event);
    const before = pointers.get(event.pointerId);
    if (!before) return void (onMap(event) ? hover(find(u, v), u, v) : hover(-1));
    pointers.set(event.pointerId, [u, v]);
    const [dx, dy] = [u - before[0], v - before[1]];
    travelled += Math.abs(dx) + Math.abs(dy);
    if (map.lasso) {
      map.lasso.push([u, v]);
      return drawAbove();
    }
    if (still(event)) return;
    hover(-1);
    if (pointers.size === 2) {
      const [other] = [...pointers.entries()].flatMap(([id, point]) => (id === event.pointerId ? [] : [point]));
      const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      zoom(apart([u, v]) / apart(before), (u + other[0]) / 2, (v + other[1]) / 2);
      pan(dx / 2, dy / 2);
    } else if (event.pointerType !== "touch" || stage.dataset.near === "true") pan(dx, dy);
  });

  const onPointerEnd = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    const { lasso } = map;
    map.lasso = null;
    if (lasso) {
      if (map.lassoing) around.click();
      const corners = simplifyLasso(lasso).map(([u, v]) => toLayout(map.scene, toPlace(u, v)));
      const found = corners.length > 2 ? nodesInLasso(map.scene, corners, visible) : [];
      if (found.length) {
        map.group = found;
        map.send("group", corners);
      }
      drawAbove();
    } else if (event.type === "pointerup" && still(event) && pointers.size === 0) {
      const [u, v] = at(event);
      const touch = event.pointerType === "touch";
      const node = find(u, v, touch ? 18 : undefined);
      choose(node);
      if (touch) hover(node, u, v); // a finger cannot hover: show the tip all the same
    }
  };
  stage.addEventListener("pointerup", onPointerEnd);
  stage.addEventListener("pointercancel", onPointerEnd);
  stage.addEventListener("pointerleave", (event) => {
    if (!pointers.size && event.pointerType !== "touch") hover(-1);
  });
  // One finger scrolls the page past a map that is seen whole, see map.css; two fingers zoom the map.
  stage.addEventListener("touchstart", (event) => event.touches.length > 1 && event.preventDefault(), {
    passive: false,
  });

  // Highlights a node at once; the server answers later. A click on no node ends the highlight and
  // keeps the picked node.
  function choose(node) {
    if (!map.data.linking || node < 0) map.pinned = node;
    highlight();
    if (node >= 0 && node !== map.data.node) map.send("pick", node);
  }

  stage.addEventListener("dblclick", (event) => onMap(event) && fit());
  stage.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const [u, v] = at(event);
      hover(-1);
      zoom(Math.exp(-event.deltaY / (event.ctrlKey ? 120 : 400)), u, v);
    },
    { passive: false },
  );

  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return; // the browser's own
    const move = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const by = { "+": 1.3, "=": 1.3, "-": 1 / 1.3 }[event.key];
    if (event.key in move && (event.shiftKey || map.data.node < 0)) {
      pan(...move[event.key].map((side) => side * STEP));
    } else if (event.key in move) walk(move[event.key][0] + move[event.key][1] < 0 ? 1 : -1);
    else if (event.key === "Enter" && map.hovered >= 0) {
      choose(map.hovered);
      say("");
    } else if (by) zoom(by);
    else if (event.key === "0") fit();
    else if (event.key === "Escape") {
      [map.pinned, map.hovered, map.lasso] = [-1, -1, null];
      if (map.lassoing) around.click();
      say("");
      hover(-1);
      highlight();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });

  // Goes from one neighbour of the picked node to the next, by angle; Enter picks it.
  function walk(step) {
    const centre = map.data.node;
    const angle = (i) => {
      const [x, y] = [0, 1].map((k) => map.scene.places[2 * i + k] - map.scene.places[2 * centre + k]);
      return Math.atan2(-y, x);
    };
    const near = [...map.scene.neighbours(centre)].filter(visible);
    if (!near.length) return say("It has no links: Shift and the arrows move the map");
    near.sort((a, b) => angle(a) - angle(b));
    const at = near.indexOf(map.hovered);
    const next = near[at < 0 ? (step > 0 ? 0 : near.length - 1) : (at + step + near.length) % near.length];
    hover(next, ...actions.screen(next));
    say(`${near.indexOf(next) + 1} of ${near.length}: ${sentences(nodeLines(map, next))} Enter picks it.`, 0);
  }

  const button = (sign, words, act) => {
    const created = element(tools, "button");
    created.type = "button";
    created.append(icon(sign));
    nameButton(created, words);
    created.onclick = () => act(created);
    return created;
  };
  button("M8 3v10M3 8h10", "Zoom in", () => zoom(1.4));
  button("M3 8h10", "Zoom out", () => zoom(1 / 1.4));
  button("M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4", "Show the whole map (double click)", () => fit());
  const chain = "M7 9a3 3 0 0 0 4.2 0l2-2a3 3 0 0 0-4.2-4.2l-1 1M9 7a3 3 0 0 0-4.2 0l-2 2a3 3 0 0 0 4.2 4.2l1-1";
  const copy = button(chain, "Copy a link to exactly this view", async () => {
    address();
    say((await copyToClipboard(globalThis.location.href)) ? "Link copied" : globalThis.location.href);
  });
  copy.hidden = true; // until the page says that its address is the view's
  const setPressed = (button, on) => button.setAttribute("aria-pressed", String(on));
  const loop = "M5 11C1 9 1 4 7 3s9 4 5 7-6 1-7 1c-2 0-2 3 0 3";
  const around = button(loop, "", (pressed) => {
    map.lassoing = !map.lassoing;
    stage.classList.toggle("lassoing", map.lassoing);
    setPressed(pressed, map.lassoing);
    stage.style.cursor = map.lassoing ? "crosshair" : "grab";
  });
  const fold = button("M6 8a2 2 0 1 0 4 0a2 2 0 1 0-4 0M2 2l3 3M14 2l-3 3M2 14l3-3M14 14l-3-3", "", (pressed) => {
    map.folded = !map.folded;
    setPressed(pressed, map.folded);
    recolour();
    fit();
  });
  setPressed(around, false);
  setPressed(fold, false);
  return { fold, copy, around };
}

export function nameButton(button, words) {
  button.title = words;
  button.setAttribute("aria-label", words);
}

// Thins out the corners of a lasso until they fit into a link.
function simplifyLasso(points) {
  const most = 48;
  const far = points.filter(([u, v], k) => {
    const [x, y] = points[k - 1] ?? [-99, -99];
    return Math.hypot(u - x, v - y) > 2;
  });
  const every = Math.ceil(far.length / most);
  return far.filter((_, k) => k % every === 0);
}

function icon(path) {
  const [picture, line] = ["svg", "path"].map((tag) =>
    document.createElementNS("http://www.w3.org/2000/svg", tag),
  );
  picture.setAttribute("viewBox", "0 0 16 16");
  picture.setAttribute("aria-hidden", "true");
  line.setAttribute("d", path);
  picture.append(line);
  return picture;
}

// Returns a function that shows a few words on the map for a moment, also to screen readers.
export function createStatus(stage) {
  const status = element(stage, "p", "status");
  status.setAttribute("role", "status");
  let hideTimer = 0;
  return (words, ms = 2500) => {
    status.textContent = words;
    clearTimeout(hideTimer);
    if (ms) hideTimer = setTimeout(() => (status.textContent = ""), ms);
  };
}

// Copies a text, and returns whether that worked. Pages served by plain http have no
// navigator.clipboard; the older command copies what is selected.
async function copyToClipboard(text) {
  try {
    await globalThis.navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = document.body.appendChild(document.createElement("textarea"));
    box.value = text;
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    return done;
  }
}

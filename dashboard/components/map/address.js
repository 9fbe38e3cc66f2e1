// The position of the camera in the address of the page: written when the map comes to rest, read
// when the visitor opens the address or comes back to it.

import { toLayout } from "./scene.js";

const FARTHEST = 100; // a map lies within one unit of its middle
// The cameras, by map and graph: they outlive the element, which Streamlit may mount again.
export const cameras = (globalThis.bupMapCameras ??= new Map());
globalThis.addEventListener("popstate", () => cameras.clear()); // the address says it

/**
 * [x, y, zoom] in places of the layout; null if the camera sees the whole map.
 * @param {{ stretch?: number }} scene
 * @param {import("./types.js").Camera} camera
 * @param {import("./types.js").Camera} whole
 * @returns {number[] | null}
 */
export function cameraPosition(scene, { x, y, scale }, whole) {
  const zoom = scale / whole.scale;
  const off = Math.max(Math.abs(x - whole.x), Math.abs(y - whole.y)) * scale;
  return off < 2 && Math.abs(zoom - 1) < 0.01 ? null : [...toLayout(scene, [x, y]), zoom];
}

/**
 * Writes [x, y, zoom], or nothing for null; the rest of the address stays.
 * @param {number[] | null} at
 */
export function writeAddress(at) {
  const address = new URL(globalThis.location.href);
  const text = at && at.map((value) => Number(value.toFixed(4))).join(",");
  if ((address.searchParams.get("at") ?? "") === (text ?? "")) return;
  if (text) address.searchParams.set("at", text);
  else address.searchParams.delete("at");
  globalThis.history.replaceState({ looking: true }, "", address);
}

/**
 * [x, y, zoom] of the address, which anyone can write: null if it is not a valid position.
 * @returns {number[] | null}
 */
export function readAddress() {
  const text = new URL(globalThis.location.href).searchParams.get("at") ?? "";
  const at = text.split(",").map(Number);
  const fits = at.length === 3 && at.every((v) => Math.abs(v) <= FARTHEST) && at[2] > 0;
  return fits ? at : null;
}

// Keeps the address at the position that `at` returns in a list; a value that is false writes none.
// `comeBack` is called when the visitor has come back to an address of this page.
export function keepPositionInUrl({ at, comeBack }) {
  const page = globalThis.location.pathname;
  const here = () => globalThis.location.pathname === page; // not on the way to another page
  let noting = 0;
  const write = () => {
    const [place] = (here() && at()) || [];
    if (place !== undefined) writeAddress(place);
  };
  const back = () => {
    clearTimeout(noting);
    if (here()) comeBack();
  };
  globalThis.addEventListener("popstate", back);
  return {
    write,
    note() {
      clearTimeout(noting);
      noting = setTimeout(write, 400);
    },
    dispose() {
      clearTimeout(noting);
      globalThis.removeEventListener("popstate", back);
    },
  };
}

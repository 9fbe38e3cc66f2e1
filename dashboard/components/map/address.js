// Where one looks, in the address of the page: written when the map comes to rest, and read when
// one arrives there or comes back to it.
const FARTHEST = 100; // a map lies within one unit of its middle
// Where the visitor looks, by map and graph: it outlives the element, which may be mounted anew.
const cameras = (globalThis.bupMapCameras ??= new Map());
globalThis.addEventListener("popstate", () => cameras.clear()); // the address says it

// [x, y, zoom], as the layout has it; null for all of the map, which needs no words.
function whereOf(scene, { x, y, scale }, whole) {
  const zoom = scale / whole.scale;
  const off = Math.max(Math.abs(x - whole.x), Math.abs(y - whole.y)) * scale;
  return off < 2 && Math.abs(zoom - 1) < 0.01 ? null : [...flat(scene, [x, y]), zoom];
}

// `at` is [x, y, zoom] or null; nothing but that part of the address changes.
function writeAddress(at) {
  const address = new URL(globalThis.location.href);
  const text = at && at.map((value) => Number(value.toFixed(4))).join(",");
  if ((address.searchParams.get("at") ?? "") === (text ?? "")) return;
  if (text) address.searchParams.set("at", text);
  else address.searchParams.delete("at");
  globalThis.history.replaceState({ looking: true }, "", address);
}

// What anybody can write there is never trusted: null for what is no place.
function readAddress() {
  const text = new URL(globalThis.location.href).searchParams.get("at") ?? "";
  const at = text.split(",").map(Number);
  const fits = at.length === 3 && at.every((v) => Math.abs(v) <= FARTHEST) && at[2] > 0;
  return fits ? at : null;
}

// Keeps the address at the place that `at` returns in a list, if there is one to keep; `comeBack` is
// called when the visitor has come back to an address of this page.
function placeKeeper({ at, comeBack }) {
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

const differ = (one, other) => JSON.stringify(one ?? null) !== JSON.stringify(other ?? null);

// Says a few words on the map, for a moment; screen readers hear them.
function sayer(stage) {
  const status = element(stage, "p", "status");
  status.setAttribute("role", "status");
  let hushing = 0;
  return (words, ms = 2500) => {
    status.textContent = words;
    clearTimeout(hushing);
    if (ms) hushing = setTimeout(() => (status.textContent = ""), ms);
  };
}

// Whether a text is on the clipboard now. Pages that came by plain http have no clipboard of the
// new kind; the old one copies what is selected.
async function copied(text) {
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

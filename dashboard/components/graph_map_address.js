// Where one looks, in the address of the page: written when the map comes to rest.

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
  globalThis.history.replaceState(globalThis.history.state, "", address);
}

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

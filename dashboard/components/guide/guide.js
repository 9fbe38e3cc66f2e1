// The card of a tour. Its links open a page with its whole address, without a reload.

import { create } from "../shared/elements.js";

const guides = new WeakMap();
const HEADER = 64;  // pixels of the screen's head that the app's own bar takes

function linkTo(label, place, name) {
  const link = create("a", { class: name ?? null }, label);
  const url = new URL(place, location.href);
  link.href = url.href;
  link.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    globalThis.bupSteps.visit(url);
  });
  return link;
}

function fill(card, data) {
  const ways = document.createElement("nav");
  if (data.back) ways.append(linkTo("Back", data.back));
  if (data.onward) ways.append(linkTo("Next", data.onward, "next"));
  const leave = create("button", {}, data.onward ? "Leave" : "Done");
  leave.addEventListener("click", () => {
    const url = new URL(location.href);
    url.searchParams.delete(data.parameter);
    globalThis.bupSteps.visit(url);
  });
  ways.append(leave);
  card.replaceChildren(
    create("small", {}, data.place), create("h2", {}, data.title), create("p", {}, data.words), ways,
  );
}

// Keeps the frame around its target, and scrolls the target into view while the page around it still
// grows: until the visitor scrolls, clicks or presses a key.
function follow(guide) {
  const { frame, data } = guide;
  const target = [...document.querySelectorAll(data.shows)].find((e) => e.checkVisibility());
  frame.style.display = target ? "block" : "none";
  if (!target) return;
  let box = target.getBoundingClientRect();
  const covered = placeCard(guide.card, box);
  if (guide.scrolls) {
    const { style } = mainBlock();
    style.paddingBottom = style.scrollPaddingBottom = covered ? `${covered}px` : "";
    const fits = box.height <= innerHeight - HEADER - covered;
    const begins = box.top >= HEADER && box.top <= 2 * HEADER;
    if (fits) target.scrollIntoView({ block: "nearest" });
    else if (!begins) target.scrollIntoView({ block: "start" });
    box = target.getBoundingClientRect();
  }
  const [top, left] = [Math.max(box.top, 56) - 4, Math.max(box.left, 4) - 4];
  Object.assign(frame.style, {
    top: `${top}px`,
    left: `${left}px`,
    width: `${Math.min(box.right, innerWidth - 6) - left - 2}px`,
    height: `${Math.max(Math.min(box.bottom, innerHeight - 4) - top, 12)}px`,
  });
}

// Puts the card on the side with more room, never below the sidebar. Returns how many pixels at the
// foot of the screen it covers of the target: 0 if it stands beside it.
function placeCard(card, box) {
  const aside = document.querySelector('[data-testid="stSidebar"]')?.getBoundingClientRect();
  const start = Math.max(aside?.right ?? 0, 0);
  const [before, behind] = [box.left - start, innerWidth - box.right];
  const wide = innerWidth > 640;
  const moves = wide && before > behind;
  const beside = Math.max(before, behind) - 24;
  card.style.left = moves ? `${start + 12}px` : "";
  card.style.right = moves ? "auto" : "";
  card.style.width = wide && beside >= 280 && beside < 400 ? `${beside}px` : "";
  const at = card.getBoundingClientRect();
  return at.left < box.right && at.right > box.left ? innerHeight - at.top + 8 : 0;
}

// The part of Streamlit's page that scrolls.
function mainBlock() {
  return /** @type {HTMLElement} */ (document.querySelector(".stMain"));
}

function removePadding() {
  const main = mainBlock();
  if (main) main.style.paddingBottom = main.style.scrollPaddingBottom = "";
}

export default function ({ data, parentElement }) {
  const known = guides.get(parentElement);
  const guide = known ?? {
    frame: parentElement.querySelector(".frame"), card: parentElement.querySelector(".card"),
  };
  if (guide.data?.place !== data.place) guide.scrolls = true;
  guide.data = data;
  fill(guide.card, data);
  if (!known) {
    guides.set(parentElement, guide);
    guide.timer = setInterval(() => follow(guide), 200);
    guide.listeners = new AbortController();
    for (const name of ["wheel", "touchstart", "pointerdown", "keydown"]) {
      addEventListener(name, () => { guide.scrolls = false; }, {
        capture: true, passive: true, signal: guide.listeners.signal,
      });
    }
  }
  follow(guide);
  return () => {
    clearInterval(guide.timer);
    guide.listeners.abort();
    removePadding();
    guides.delete(parentElement);
  };
}

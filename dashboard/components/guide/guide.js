// The card of a tour. Going on opens a page with its whole address, without a reload.

import { create } from "../shared/elements.js";

const guides = new WeakMap();
const HEADER = 64;  // pixels of the screen's head that the app's own bar takes

function way(label, place, name) {
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
  if (data.back) ways.append(way("Back", data.back));
  if (data.onward) ways.append(way("Next", data.onward, "next"));
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

// Keeps the frame around what it shows, wherever that goes, and what it shows in sight for as long
// as the page around it grows: until somebody scrolls or presses something.
function follow(guide) {
  const { frame, data } = guide;
  const target = [...document.querySelectorAll(data.shows)].find((e) => e.checkVisibility());
  frame.style.display = target ? "block" : "none";
  if (!target) return;
  let box = target.getBoundingClientRect();
  const covered = stand(guide.card, box);
  if (guide.leads) {
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

// The card goes where what it shows leaves more room, never below the sidebar. How much of the
// screen's foot it takes from what it shows: nothing if it stands beside it.
function stand(card, box) {
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

function rest() {
  const main = mainBlock();
  if (main) main.style.paddingBottom = main.style.scrollPaddingBottom = "";
}

export default function ({ data, parentElement }) {
  const known = guides.get(parentElement);
  const guide = known ?? {
    frame: parentElement.querySelector(".frame"), card: parentElement.querySelector(".card"),
  };
  if (guide.data?.place !== data.place) guide.leads = true;
  guide.data = data;
  fill(guide.card, data);
  if (!known) {
    guides.set(parentElement, guide);
    guide.timer = setInterval(() => follow(guide), 200);
    guide.hands = new AbortController();
    for (const name of ["wheel", "touchstart", "pointerdown", "keydown"]) {
      addEventListener(name, () => { guide.leads = false; }, {
        capture: true, passive: true, signal: guide.hands.signal,
      });
    }
  }
  follow(guide);
  return () => {
    clearInterval(guide.timer);
    guide.hands.abort();
    rest();
    guides.delete(parentElement);
  };
}

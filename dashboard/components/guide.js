// The card of a tour. Going on is what the browser's own back and forward do: the page opens with
// its whole address, without a reload.
const guides = new WeakMap();

function visit(url) {
  history.pushState({}, "", url);
  dispatchEvent(new PopStateEvent("popstate"));
}

function made(tag, text, name) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (name) element.className = name;
  return element;
}

function way(label, place, name) {
  const link = made("a", label, name);
  const url = new URL(place, location);
  link.href = url;
  link.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    visit(url);
  });
  return link;
}

function fill(card, data) {
  const ways = document.createElement("nav");
  if (data.back) ways.append(way("Back", data.back));
  if (data.onward) ways.append(way("Next", data.onward, "next"));
  const leave = made("button", data.onward ? "Leave" : "Done");
  leave.addEventListener("click", () => {
    const url = new URL(location);
    url.searchParams.delete(data.parameter);
    visit(url);
  });
  ways.append(leave);
  card.replaceChildren(
    made("small", data.place), made("h2", data.title), made("p", data.words), ways,
  );
}

// Keeps the frame around what it shows, wherever that goes; brings it into sight once.
function follow(guide) {
  const { frame, card, data } = guide;
  const target = [...document.querySelectorAll(data.shows)].find((e) => e.checkVisibility());
  frame.style.display = target ? "block" : "none";
  if (!target) return;
  let box = target.getBoundingClientRect();
  if (guide.seen !== data.place) {
    guide.seen = data.place;
    if (box.top < 60 || box.top > innerHeight - 120) {
      target.scrollIntoView({ block: box.height > innerHeight / 2 ? "start" : "center" });
      box = target.getBoundingClientRect();
    }
  }
  const [top, left] = [Math.max(box.top, 56) - 4, Math.max(box.left, 4) - 4];
  Object.assign(frame.style, {
    top: `${top}px`,
    left: `${left}px`,
    width: `${Math.min(box.right, innerWidth - 6) - left - 2}px`,
    height: `${Math.max(Math.min(box.bottom, innerHeight - 4) - top, 12)}px`,
  });
  // Not above what it shows, if there is room, and never below the sidebar.
  const aside = document.querySelector('[data-testid="stSidebar"]')?.getBoundingClientRect();
  const moves = box.left > innerWidth / 2 && innerWidth > 640;
  card.style.left = moves ? `${Math.max(aside?.right ?? 0, 0) + 16}px` : "";
  card.style.right = moves ? "auto" : "";
}

export default function ({ data, parentElement }) {
  const known = guides.get(parentElement);
  const guide = known ?? {
    frame: parentElement.querySelector(".frame"), card: parentElement.querySelector(".card"),
  };
  guide.data = data;
  fill(guide.card, data);
  if (!known) {
    guides.set(parentElement, guide);
    guide.timer = setInterval(() => follow(guide), 200);
  }
  follow(guide);
  return () => {
    clearInterval(guide.timer);
    guides.delete(parentElement);
  };
}

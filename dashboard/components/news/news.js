// Watches a class for news with a tiny request now and then, and tells the page only when there are
// any; never while somebody types or drags. Remembers this browser's seat in cookies.
const QUIET = 4000; // milliseconds without a key after which a text counts as left alone
const PATIENCE = 8000; // milliseconds after which news that the page did not take are told again
const WRITES = "textarea, [contenteditable=true], input:not([type=radio], [type=checkbox])";

const hands = (globalThis.bupHands ??= { lastKey: -Infinity, pressed: false, watched: false });
if (!hands.watched) {
  hands.watched = true;
  const on = (kind, run) => document.addEventListener(kind, run, { capture: true, passive: true });
  for (const kind of ["keydown", "input"]) on(kind, () => (hands.lastKey = performance.now()));
  on("pointerdown", () => (hands.pressed = true));
  for (const kind of ["pointerup", "pointercancel"]) on(kind, () => (hands.pressed = false));
}

function busy() {
  const writing = document.activeElement?.matches(WRITES);
  return hands.pressed || (writing && performance.now() - hands.lastKey < QUIET);
}

function remember(cookies, seconds) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  for (const [name, value] of Object.entries(cookies)) {
    const age = value ? seconds : 0;
    document.cookie = `${name}=${value}; Path=/; Max-Age=${age}; SameSite=Strict${secure}`;
  }
}

const watches = new WeakMap();

class Watch {
  /** @type {any} */
  data = null;
  /** @type {(news: string) => void} */
  tell = () => {};
  over = false;
  timer = 0;
  /** @type {{ news: string | null, at: number }} */
  told = { news: null, at: 0 };
  /** @type {number | null} the last redirect that was followed */
  gone = null;

  go() {
    if (busy()) return false;
    this.gone = this.data.go.number;
    globalThis.bupSteps.visit(new URL(this.data.go.place, location.href));
    return true;
  }

  async look() {
    const { data, tell } = this;
    let wait = data.every;
    try {
      if (data.go && data.go.number !== this.gone) {
        if (!this.go()) wait = 250;
      } else if (data.source && !document.hidden) {
        const answer = await fetch(data.source, { cache: "no-store" });
        const news = String((await answer.json())[data.about]);
        const again = news === this.told.news && performance.now() - this.told.at < PATIENCE;
        if (news !== this.data.news && !again) {
          if (busy()) wait = 250;
          else {
            this.told = { news, at: performance.now() };
            tell(news);
          }
        }
      }
    } catch {
      wait = 3 * data.every; // the server may be starting again
    }
    // Not all phones at the same moment.
    if (!this.over) this.timer = setTimeout(() => this.look(), wait * (0.85 + 0.3 * Math.random()));
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  remember(data.cookies, data.seconds);
  const watch = watches.get(parentElement) ?? new Watch();
  const first = !watches.has(parentElement);
  watches.set(parentElement, watch);
  watch.data = data;
  watch.tell = (news) => setTriggerValue("news", news);
  if (first || data.go) {
    clearTimeout(watch.timer);
    watch.look();
  }
  return () => {
    watch.over = true;
    clearTimeout(watch.timer);
    watches.delete(parentElement);
  };
}

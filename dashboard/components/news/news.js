// Asks the server every few seconds for news of a class, and reruns the page only if there are any and
// the visitor neither types nor drags. Stores this browser's seat in cookies.
const TYPING_PAUSE = 4000; // milliseconds without a key after which a text counts as left alone
const RETRY_AFTER = 8000; // milliseconds after which news that the page did not take are told again
const TEXT_FIELDS = "textarea, [contenteditable=true], input:not([type=radio], [type=checkbox])";

const input = (globalThis.bupHands ??= { lastKey: -Infinity, pressed: false, watched: false });
if (!input.watched) {
  input.watched = true;
  const on = (kind, run) => document.addEventListener(kind, run, { capture: true, passive: true });
  for (const kind of ["keydown", "input"]) on(kind, () => (input.lastKey = performance.now()));
  on("pointerdown", () => (input.pressed = true));
  for (const kind of ["pointerup", "pointercancel"]) on(kind, () => (input.pressed = false));
}

function busy() {
  const writing = document.activeElement?.matches(TEXT_FIELDS);
  return input.pressed || (writing && performance.now() - input.lastKey < TYPING_PAUSE);
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
  reported = { news: null, at: 0 };
  /** @type {number | null} the last redirect that was followed */
  followed = null;

  go() {
    if (busy()) return false;
    this.followed = this.data.go.number;
    globalThis.bupSteps.visit(new URL(this.data.go.place, location.href));
    return true;
  }

  async look() {
    const { data, tell } = this;
    let wait = data.every;
    try {
      if (data.go && data.go.number !== this.followed) {
        if (!this.go()) wait = 250;
      } else if (data.source && !document.hidden) {
        const answer = await fetch(data.source, { cache: "no-store" });
        const news = String((await answer.json())[data.about]);
        const again = news === this.reported.news && performance.now() - this.reported.at < RETRY_AFTER;
        if (news !== this.data.news && !again) {
          if (busy()) wait = 250;
          else {
            this.reported = { news, at: performance.now() };
            tell(news);
          }
        }
      }
    } catch {
      wait = 3 * data.every; // the server may be starting again
    }
    // At a random moment, so that not all phones ask at once.
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

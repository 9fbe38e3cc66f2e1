// One action of the visitor is one entry of the browser's history. Streamlit (for its widgets and
// pages), the map and the tour all write the address through the browser's own two functions; here
// it is decided whether what they write begins an entry or belongs to the last one. Runs before all
// of them.
(() => {
const MAP = "at"; // where one looks on the map: only the browser knows it
const MEASURED = "scale"; // follows from a run, whenever its training ends: nobody's action

function names(one, other) {
  const [a, b] = [new URL(one, location.href), new URL(other, location.href)];
  const all = new Set([...a.searchParams.keys(), ...b.searchParams.keys()]);
  const said = (url, name) => JSON.stringify(url.searchParams.getAll(name));
  const differ = [...all].filter((name) => said(a, name) !== said(b, name));
  return a.pathname === b.pathname ? differ : ["/", ...differ];
}

function put(url, at) {
  if (at === null) url.searchParams.delete(MAP);
  else url.searchParams.set(MAP, at);
}

function install() {
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  let acted = false; // the visitor has done something for which there is no entry yet
  let open = false; // the last entry is still being written by the run that its action set off
  let before = location.href; // the entry before the last one

  // While a script runs, what it writes is not the doing of whoever scrolls meanwhile.
  const runs = () => {
    const app = document.querySelector('[data-testid="stApp"]');
    return app?.getAttribute("data-test-script-state") !== "notRunning";
  };
  const act = (event) => {
    if (!event.isTrusted) return;
    acted = true;
    if (!runs()) open = false;
  };
  for (const kind of ["pointerdown", "click", "keydown", "wheel", "drop"]) {
    addEventListener(kind, act, { capture: true, passive: true });
  }
  const settle = () => (acted = open = false);
  addEventListener("popstate", settle, { capture: true });

  // A run writes each part of the address once: a part that changes again is another action.
  const again = (url) => {
    const changed = names(before, location.href);
    return names(location.href, url).some((name) => changed.includes(name));
  };

  function write(state, url, begins) {
    const [last, next] = [location.href, new URL(url, location.href)];
    const looking = Boolean(state?.looking);
    if (!looking && next.pathname === location.pathname) {
      const at = new URL(last).searchParams.get(MAP);
      if (at !== next.searchParams.get(MAP)) put(next, at);
    }
    if (next.href === last) return;
    // Looking around is one action, however often the map comes to rest.
    const goes_on = looking && history.state?.looking;
    const own = names(last, next).some((name) => name !== MEASURED);
    if (acted && own && begins(next) && !goes_on) {
      before = last;
      push(state, "", next);
      open = true;
    } else replace(state, "", next);
    if (own) acted = false;
  }

  history.pushState = (state, _, url) => write(state, url, (next) => !open || again(next));
  history.replaceState = (state, _, url) => write(state, url, () => true);
  return {
    // As the browser's own back and forward do: a page opens with its whole address.
    visit(url) {
      push({}, "", url);
      dispatchEvent(new PopStateEvent("popstate"));
    },
  };
}

globalThis.bupSteps = install();
})();

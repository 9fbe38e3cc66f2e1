// One action of the visitor is one entry of the browser's history. Streamlit (for its widgets and
// pages), the map and the tour all write the address by history.pushState and history.replaceState.
// This script replaces both: it decides whether a change begins a new entry or belongs to the last
// one. It runs before the other scripts.
(() => {
const MAP = "at"; // position of the map's camera: only the browser knows it
const MEASURED = "scale"; // written when a training ends: not an action of the visitor

function changedParameters(one, other) {
  const [a, b] = [new URL(one, location.href), new URL(other, location.href)];
  const all = new Set([...a.searchParams.keys(), ...b.searchParams.keys()]);
  const said = (url, name) => JSON.stringify(url.searchParams.getAll(name));
  const differ = [...all].filter((name) => said(a, name) !== said(b, name));
  return a.pathname === b.pathname ? differ : ["/", ...differ];
}

function setMapPosition(url, at) {
  if (at === null) url.searchParams.delete(MAP);
  else url.searchParams.set(MAP, at);
}

function install() {
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  let acted = false; // the visitor has done something for which there is no entry yet
  let open = false; // the last entry is still being written by the run that its action set off
  let before = location.href; // the entry before the last one

  // A change that a running script writes does not belong to a visitor who scrolls meanwhile.
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

  // A script run writes each parameter once: a parameter that changes again is another action.
  const again = (url) => {
    const changed = changedParameters(before, location.href);
    return changedParameters(location.href, url).some((name) => changed.includes(name));
  };

  function write(state, url, begins) {
    const [last, next] = [location.href, new URL(url, location.href)];
    const looking = Boolean(state?.looking);
    if (!looking && next.pathname === location.pathname) {
      const at = new URL(last).searchParams.get(MAP);
      if (at !== next.searchParams.get(MAP)) setMapPosition(next, at);
    }
    if (next.href === last) return;
    // Moving the map is one action, however often it comes to rest.
    const goes_on = looking && history.state?.looking;
    const own = changedParameters(last, next).some((name) => name !== MEASURED);
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
    // Opens a page with its whole address, as the browser's back and forward do.
    visit(url) {
      push({}, "", url);
      dispatchEvent(new PopStateEvent("popstate"));
    },
  };
}

globalThis.bupSteps = install();
})();

// Scrolls no further than needed, and only when there is something new to see.
const seen = new WeakMap();

export default function ({ data, parentElement }) {
  if (seen.get(parentElement) === data.state) return;
  seen.set(parentElement, data.state);
  const here = parentElement.host ?? parentElement;
  // Its own block, then the container that it was put into.
  const around = here.closest('[data-testid="stVerticalBlock"]');
  requestAnimationFrame(() => around?.scrollIntoView({ block: "nearest" }));
}

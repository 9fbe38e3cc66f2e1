// Scrolls no further than needed, and only when `state` has changed.
const seen = new WeakMap();

export default function ({ data, parentElement }) {
  if (seen.get(parentElement) === data.state) return;
  seen.set(parentElement, data.state);
  const here = parentElement.host ?? parentElement;
  // The container around the component.
  const around = here.closest('[data-testid="stVerticalBlock"]');
  requestAnimationFrame(() => around?.scrollIntoView({ block: "nearest" }));
}

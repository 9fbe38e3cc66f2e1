// Once for every time that it appears: whoever has gone on since is not called back.
const seen = new WeakSet();

export default function ({ parentElement }) {
  if (seen.has(parentElement)) return;
  seen.add(parentElement);
  const here = parentElement.host ?? parentElement;
  const field = here.closest('[data-testid="stPopoverBody"]')?.querySelector("input");
  if (field?.checkVisibility()) field.focus();
}

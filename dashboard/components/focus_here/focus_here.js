// Focuses the field once each time that the component appears, so that it never takes the focus back.
const seen = new WeakSet();

export default function ({ parentElement }) {
  if (seen.has(parentElement)) return;
  seen.add(parentElement);
  const here = parentElement.host ?? parentElement;
  const field = here.closest('[data-testid="stPopoverBody"]')?.querySelector("input");
  if (field?.checkVisibility()) field.focus();
}

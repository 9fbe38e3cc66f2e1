// Making elements of a page. Text is always set as text, never as markup: names come from data.

/** Appends a new element to `parent`. */
export function element(parent, tag, className = "", text = undefined) {
  const created = parent.appendChild(document.createElement(tag));
  if (className) created.className = className;
  if (text !== undefined) created.textContent = text;
  return created;
}

/** Appends a new SVG element to `parent`. */
export function svgElement(parent, tag, attributes = {}) {
  const created = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  return parent.appendChild(created);
}

/**
 * A new element: `onclick` and the like are listeners, `true` sets an empty attribute, and `false`
 * and `null` set none.
 */
export function create(tag, about = {}, ...children) {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(about)) {
    if (name.startsWith("on")) created.addEventListener(name.slice(2), value);
    else if (value === true) created.setAttribute(name, "");
    else if (value !== false && value !== null) created.setAttribute(name, value);
  }
  created.append(...children.filter((child) => child !== null && child !== undefined));
  return created;
}

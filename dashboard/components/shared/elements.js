// Making elements of a page. Text is always set as text, never as markup: names come from data.

/**
 * Appends a new element to `parent`.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Element} parent
 * @param {Tag} tag
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(parent, tag, className = "", text) {
  const created = parent.appendChild(document.createElement(tag));
  if (className) created.className = className;
  if (text !== undefined) created.textContent = text;
  return created;
}

/**
 * Appends a new SVG element to `parent`.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Element} parent
 * @param {Tag} tag
 * @param {Record<string, any>} attributes
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svgElement(parent, tag, attributes = {}) {
  const created = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  return parent.appendChild(created);
}

/**
 * A new element: `onclick` and the like are listeners, `true` sets an empty attribute, and `false`
 * and `null` set none.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} about
 * @param {...(Node | string | null | undefined)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function create(tag, about = {}, ...children) {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(about)) {
    if (name.startsWith("on")) created.addEventListener(name.slice(2), value);
    else if (value === true) created.setAttribute(name, "");
    else if (value !== false && value !== null) created.setAttribute(name, value);
  }
  created.append(...children.filter((child) => child != null));
  return created;
}

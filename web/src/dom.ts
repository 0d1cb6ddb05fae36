//! Making elements. Text only ever goes in as text; there is no way here to put in markup.

type Child = globalThis.Node | string | null;

export interface Properties {
  class?: string;
  text?: string;
  title?: string;
  type?: string;
  hidden?: boolean;
  disabled?: boolean;
  [attribute: string]: string | number | boolean | undefined;
}

/** An element with attributes and children; `text` is its text, booleans are set by presence. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  assign(element, properties);
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/** An element of a picture. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  assign(element, properties);
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

function assign(element: Element, properties: Properties): void {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (name === "text") element.textContent = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** A button that does something. */
export function button(text: string, properties: Properties, action: (event: MouseEvent) => void): HTMLButtonElement {
  const element = el("button", { type: "button", ...properties, text });
  element.addEventListener("click", action);
  return element;
}

/** The element of the page with this id; the page's own markup has it. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no element “${id}”.`);
  return element as E;
}

/** Puts a picture's reference into an element: one of the symbols in the page. */
export function icon(name: string): SVGSVGElement {
  return svg("svg", { class: "icon", "aria-hidden": "true" }, svg("use", { href: `#icon-${name}` }));
}

/** Whether keys typed now belong to a field. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}

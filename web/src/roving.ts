//! Lists that are one stop of the tab key, with arrow keys inside.

/** Makes the children of `list` that match `selector` one stop; arrow keys, Home and End move. */
export function rove(list: HTMLElement, selector: string): void {
  list.addEventListener("keydown", (event) => {
    const items = [...list.querySelectorAll<HTMLElement>(selector)];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const goals: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 };
    const goal = goals[event.key];
    const next = at < 0 || goal === undefined ? undefined : items[goal];
    if (!next) return;
    event.preventDefault();
    for (const item of items) item.tabIndex = item === next ? 0 : -1;
    next.focus();
  });
}

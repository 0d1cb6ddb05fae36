//! Light or dark: as the system says, or as the switch was set. Remembered by the browser.

import { byId, icon } from "./dom";

const KEY = "hopdb-theme";
type Theme = "light" | "dark";

export class ThemeSwitch {
  private readonly button = byId("theme");
  private readonly system = matchMedia("(prefers-color-scheme: dark)");

  /** `changed` is called after colours have changed. */
  constructor(private readonly changed: () => void) {
    const stored = read();
    if (stored) document.documentElement.dataset["theme"] = stored;
    this.button.addEventListener("click", () => this.toggle());
    this.system.addEventListener("change", () => this.show());
    this.show();
  }

  private get theme(): Theme {
    const set = document.documentElement.dataset["theme"];
    if (set === "light" || set === "dark") return set;
    return this.system.matches ? "dark" : "light";
  }

  private toggle(): void {
    const theme = this.theme === "dark" ? "light" : "dark";
    document.documentElement.dataset["theme"] = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Storage is switched off: the choice lives as long as the page.
    }
    this.show();
  }

  private show(): void {
    const other = this.theme === "dark" ? "light" : "dark";
    this.button.replaceChildren(icon(other === "light" ? "sun" : "moon"));
    this.button.setAttribute("aria-label", `Switch to ${other} colours`);
    this.button.title = `Switch to ${other} colours`;
    this.changed();
  }
}

function read(): Theme | null {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === "light" || stored === "dark" ? stored : null;
  } catch {
    return null;
  }
}

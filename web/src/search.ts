//! The search box: a combobox over `/search`, and `#id` for a node by its id.
//!
//! Asks after a short pause in typing; an answer to an older question is never shown, and what is
//! listed for an older text is never chosen by Enter.

import { isId } from "./address";
import { ApiError, explain, isAbort } from "./api";
import { Labels } from "./colours";
import { button, byId, el } from "./dom";
import type { Session } from "./session";
import type { Database, Id, NodeSummary, SearchPage, SearchResult } from "./types";
import { caption, cutText, showValue } from "./values";

/** Pause in typing, in milliseconds, after which is asked. */
const PAUSE_MS = 130;
const PAGE_SIZE = 12;

export class SearchBox {
  private readonly input = byId<HTMLInputElement>("search-input");
  private readonly list = byId("search-list");
  private readonly status = byId("search-status");
  private readonly popup = byId("search-popup");
  private readonly chooser = byId<HTMLSelectElement>("search-index");
  private options: { id: Id; element: HTMLElement }[] = [];
  private active = -1;
  private next: string | null = null;
  private asked = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Enter was pressed before the answer came: its first result is chosen. */
  private entered = false;

  constructor(
    private readonly session: Session,
    private readonly labels: Labels,
  ) {
    session.on("database", (database) => this.showIndexes(database));
    session.on("opened", (change) => {
      if (change === "other") this.close();
    });
    this.input.addEventListener("input", () => this.later());
    this.input.addEventListener("keydown", (event) => this.onKey(event));
    this.input.addEventListener("focus", () => this.onFocus());
    this.chooser.addEventListener("change", () => this.later());
    byId("search").addEventListener("focusout", (event) => {
      if (!byId("search").contains(event.relatedTarget as HTMLElement | null)) this.close();
    });
    byId("search-more").append(button("Show more", { class: "quiet" }, () => void this.ask(true)));
    // A press in the list must not take the focus from the box.
    this.popup.addEventListener("pointerdown", (event) => event.preventDefault());
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  private showIndexes({ indexes }: Database): void {
    const chosen = this.chooser.value;
    const names = indexes.map(({ label, property }) => indexName(label, property));
    this.chooser.replaceChildren(
      el("option", { value: "", text: "All indexes" }),
      ...names.map((name) => el("option", { value: name, text: name })),
    );
    this.chooser.value = names.includes(chosen) ? chosen : "";
    this.chooser.disabled = names.length === 0;
    this.input.placeholder = names.length === 0 ? "No index here: find a node by id, as #0" : "Search, or #id";
  }

  private onFocus(): void {
    // With the list open the focus only comes back from beside it.
    if (this.input.value.trim() !== "" && this.popup.hidden) this.later();
    else if (this.session.database?.indexes.length === 0) {
      this.say("This database has no index, so there is no search by text. Type a node’s id, such as #0.");
    }
  }

  private later(): void {
    this.stopAsking();
    if (this.input.value.trim() === "") {
      this.close();
      return;
    }
    this.popup.classList.add("waiting");
    this.setActive(-1);
    this.timer = setTimeout(() => void this.ask(false), PAUSE_MS);
  }

  private stopAsking(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.entered = false;
    this.asked.abort();
    this.asked = new AbortController();
    this.popup.classList.remove("waiting");
  }

  private async ask(more: boolean): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.asked.abort();
    const asked = (this.asked = new AbortController());
    const text = this.input.value.trim();
    if (!more) this.popup.classList.add("waiting");
    try {
      const page = await this.answer(text, more ? this.next : null, asked.signal);
      if (asked.signal.aborted) return;
      this.show(page, more);
      const [first] = this.options;
      if (this.entered && first) this.choose(first.id);
    } catch (error) {
      if (isAbort(error) || asked.signal.aborted) return;
      this.show({ results: [], next: null }, false);
      const { message, hint } = explain(error);
      this.say(hint === null ? message : `${message} ${hint}`);
    } finally {
      if (asked === this.asked) {
        this.popup.classList.remove("waiting");
        this.entered = false;
      }
    }
  }

  private async answer(text: string, after: string | null, signal: AbortSignal): Promise<SearchPage> {
    const { api, database } = this.session;
    const id = text.replace(/^#/, "");
    const byNumber = isId(id) && (text.startsWith("#") || database?.indexes.length === 0);
    if (byNumber) return { results: [await this.nodeById(id, signal)], next: null };
    if (text.startsWith("#")) throw new ApiError(400, "bad_request", "After # comes a node’s id: digits only.", null);
    if (database?.indexes.length === 0) {
      const message = "This database has no index, so there is no search by text.";
      throw new ApiError(404, "not_found", message, "Type a node’s id, such as #0.");
    }
    return api.get<SearchPage>("/search", { q: text, index: this.chooser.value || null, limit: PAGE_SIZE, after }, signal);
  }

  private async nodeById(id: Id, signal: AbortSignal): Promise<SearchResult> {
    const node = await this.session.api.get<NodeSummary>(`/nodes/${id}`, {}, signal);
    return { node, index: "id", value: id };
  }

  private show(page: SearchPage, more: boolean): void {
    if (!more) {
      this.list.replaceChildren();
      this.options = [];
      this.setActive(-1);
    }
    for (const result of page.results) this.addOption(result);
    this.next = page.next;
    this.showMore(page.next !== null);
    this.open();
    if (this.options.length > 0) {
      if (!more) this.setActive(0);
      this.status.textContent = "";
      this.session.say(`${this.options.length}${page.next === null ? "" : " or more"} results`);
    } else {
      this.say("Nothing found. Texts are searched by their beginning, in capital and small letters as they stand.");
    }
  }

  /** A button that has the focus must not take it along when it goes: the list would close. */
  private showMore(is: boolean): void {
    const more = byId("search-more");
    if (!is && more.contains(document.activeElement)) this.input.focus();
    more.hidden = !is;
  }

  private addOption(result: SearchResult): void {
    const look = this.labels.lookOf(result.node.labels);
    const where = result.index === "id" ? `#${result.node.id}` : `${result.index} = ${cutText(showValue(result.value).text, 60)}`;
    const element = el(
      "li",
      { role: "option", id: `search-option-${this.options.length}`, "aria-selected": "false" },
      el("span", { class: Labels.className(look), "aria-hidden": "true" }),
      el("span", { class: "option-name", text: caption(result.node) }),
      el("span", { class: "option-labels", text: result.node.labels.join(" · ") }),
      el("span", { class: "option-where", text: where }),
    );
    element.addEventListener("click", () => this.choose(result.node.id));
    this.list.append(element);
    this.options.push({ id: result.node.id, element });
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (this.popup.hidden) this.later();
      else this.step(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const option = this.options[this.active];
      if (option && !this.popup.hidden) this.choose(option.id);
      else this.enter();
    } else if (event.key === "Escape") {
      if (this.popup.hidden) this.input.value = "";
      this.close();
    }
  }

  /** Chooses the first result of the text as it stands, once it has come. */
  private enter(): void {
    if (this.input.value.trim() === "") return;
    const coming = this.popup.classList.contains("waiting") && this.timer === undefined;
    if (!coming) void this.ask(false);
    this.entered = true;
  }

  /** Moves along the list; below its end more is fetched when there is more. */
  private step(by: number): void {
    if (this.options.length === 0 || this.popup.classList.contains("waiting")) return;
    if (this.active + by >= this.options.length && this.next !== null) {
      void this.ask(true);
      return;
    }
    this.setActive((this.active + by + this.options.length) % this.options.length);
  }

  private setActive(index: number): void {
    this.options[this.active]?.element.setAttribute("aria-selected", "false");
    this.active = index;
    const option = this.options[index];
    if (!option) {
      this.input.removeAttribute("aria-activedescendant");
      return;
    }
    option.element.setAttribute("aria-selected", "true");
    option.element.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", option.element.id);
  }

  private choose(id: Id): void {
    this.close();
    this.input.value = "";
    void this.session.select(id);
    byId("stage").focus();
  }

  private say(text: string): void {
    this.status.textContent = text;
    this.open();
  }

  private open(): void {
    this.popup.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
  }

  private close(): void {
    this.stopAsking();
    this.popup.hidden = true;
    this.status.textContent = "";
    this.list.replaceChildren();
    this.options = [];
    this.setActive(-1);
    byId("search-more").hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }
}

/** An index's name as the API takes it: parts that are no plain names in backquotes. */
export function indexName(label: string, property: string): string {
  return `${quoted(label)}.${quoted(property)}`;
}

/** Backquotes, backslashes and line breaks as the server writes them in names. */
const ESCAPES: Record<string, string> = { "`": "``", "\\": "\\\\", "\n": "\\n", "\r": "\\r" };

function quoted(name: string): string {
  if (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) return name;
  return `\`${name.replace(/[`\\\n\r]/g, (one) => ESCAPES[one] ?? one)}\``;
}

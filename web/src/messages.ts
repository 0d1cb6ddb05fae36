//! Everything the page says by itself: the banner of a lost connection, notices, the form for the
//! token, and the words for screen readers.

import { isToken, type TokenTrouble } from "./api";
import type { Connection } from "./connection";
import { button, byId, el, icon } from "./dom";
import type { Notice, Session } from "./session";

/** How long a notice stays that is no error, in milliseconds. */
const NOTICE_MS = 6_000;

/** The banner: the connection is lost, and when it is tried again. */
export function showConnection(connection: Connection): void {
  const banner = byId("banner");
  const text = byId("banner-text");
  byId("banner-now").addEventListener("click", () => connection.tryNow());
  connection.on("lost", () => {
    banner.hidden = false;
  });
  connection.on("waiting", (ms) => {
    text.textContent = `Connection lost, trying again${ms >= 2_000 ? ` in ${Math.round(ms / 1_000)} s` : ""}.`;
  });
  connection.on("back", () => {
    banner.hidden = true;
  });
}

/** Notices over the drawing: one at a time, the newest. */
export function showNotices(session: Session): void {
  const place = byId("notice");
  let timer: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    clearTimeout(timer);
    place.hidden = true;
    place.replaceChildren();
  };
  const show = ({ message, hint, kind }: Notice): void => {
    close();
    const shut = button("", { class: "icon-button", "aria-label": "Close this message" }, close);
    shut.append(icon("close"));
    const words = el("div", {}, el("p", { text: message }), hint === null ? null : el("p", { class: "hint", text: hint }));
    place.replaceChildren(words, shut);
    place.className = `notice ${kind}`;
    place.hidden = false;
    if (kind === "info") timer = setTimeout(close, NOTICE_MS);
  };
  session.on("notice", show);
}

/** What happens, in words, for those who do not see the picture. */
export function speak(session: Session): void {
  const place = byId("live");
  session.on("said", (text) => {
    // A new element each time: the same words twice are said twice.
    place.append(el("p", { text }));
    while (place.childElementCount > 3) place.firstElementChild?.remove();
  });
}

const TOKEN_TROUBLES: Record<TokenTrouble, string> = {
  missing: "",
  refused: "The token was not accepted.",
  malformed: "This cannot be a token: tokens have letters, digits and signs of ASCII, and no spaces.",
};

/** Asks for the server's access token; resolves with what the person gives, once it can be one. */
export function askToken(trouble: TokenTrouble): Promise<string> {
  const dialog = byId<HTMLDialogElement>("token");
  const input = byId<HTMLInputElement>("token-input");
  const form = byId<HTMLFormElement>("token-form");
  const tell = (what: TokenTrouble): void => {
    byId("token-refused").textContent = TOKEN_TROUBLES[what];
    byId("token-refused").hidden = what === "missing";
  };
  tell(trouble);
  input.value = "";
  if (!dialog.open) dialog.showModal();
  input.focus();
  const listening = new AbortController();
  const { signal } = listening;
  return new Promise((resolve) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const token = input.value.trim();
      if (token === "") return;
      if (!isToken(token)) {
        tell("malformed");
        return;
      }
      listening.abort();
      dialog.close();
      resolve(token);
    }, { signal });
    // Without a token there is nothing to see: a form closed by Escape comes back.
    dialog.addEventListener("close", () => dialog.showModal(), { signal });
  });
}

/** The way in: a token, pasted or filled in by a password manager. */
import type { SignedIn } from "../parts/api_types.js";
import { Refusal } from "../parts/api.js";
import { el, fill } from "../parts/dom.js";
import { onceInWords } from "../parts/trouble.js";
import { signIn } from "../parts/session.js";

/** Shows the form; `then` hears of the session. `why` says why somebody who was in is asked again. */
export function showSignIn(page: HTMLElement, why: string | null, then: (session: SignedIn) => void): void {
  const token = el("input", {
    id: "token",
    name: "token",
    type: "password",
    autocomplete: "current-password",
    required: true,
    spellcheck: "false",
    autocapitalize: "none",
    placeholder: "sv_…",
    "aria-describedby": "token-help token-error",
  });
  const wrong = el("p", { id: "token-error", class: "field-error", role: "alert" });
  const enter = el("button", { type: "submit" }, "Sign in");

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const given = token.value.trim();
    if (given === "") return say("Paste a token first.");
    enter.disabled = true;
    try {
      then(await signIn(given));
    } catch (error) {
      const unknown = error instanceof Refusal && error.status === 401;
      say(unknown ? "This token is not known here, or was revoked. Was all of it pasted?" : onceInWords(error));
    } finally {
      enter.disabled = false;
    }
  }

  function say(text: string): void {
    fill(wrong, text);
    token.setAttribute("aria-invalid", "true");
    token.focus();
  }

  fill(
    page,
    el(
      "section",
      { class: "sign-in" },
      el("h1", {}, "Sign in"),
      why !== null && el("p", { class: "trouble", role: "alert" }, why),
      el(
        "form",
        { class: "card", novalidate: true, onsubmit: submit },
        // Password managers keep a password under a name.
        el("input", {
          type: "text",
          name: "username",
          autocomplete: "username",
          value: "dashboard",
          hidden: true,
          readonly: true,
        }),
        el("label", { for: "token" }, "Your token"),
        token,
        wrong,
        el(
          "p",
          { id: "token-help", class: "quiet" },
          "It begins with sv_. The collector printed the first one when it first started; an admin can make you another.",
        ),
        enter,
      ),
      el(
        "details",
        {},
        el("summary", {}, "Where do I get one?"),
        el("p", {}, "The operator of this collector saw an admin's token when it started for the first time:"),
        el("pre", {}, "sottovoce serve"),
        el(
          "p",
          {},
          "With that one, make a token for each person: read to look, ask to ask questions, publish to make surveys.",
        ),
        el("pre", {}, 'sottovoce token create --scopes read --note "Ada"'),
        el(
          "p",
          {},
          "The dashboard keeps it in a cookie that no script can read, until you sign out or close the browser.",
        ),
      ),
    ),
  );
  token.focus();
}

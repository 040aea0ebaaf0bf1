/** Ending a survey: sealing it, or deleting it with everything it holds. Neither can be undone. */
import type { SignedIn, StateBody, Status } from "../../parts/api_types.js";
import { allows } from "../../parts/session.js";
import { ask } from "../../parts/api.js";
import { sure } from "../../parts/dialog.js";
import { el, fill } from "../../parts/dom.js";
import { troublePlace } from "../../parts/trouble.js";

interface EndView {
  element: HTMLElement;
  update(status: Status): void;
}

export function endView(session: SignedIn, first: Status): EndView {
  const path = `/v1/surveys/${first.id}`;
  const { place, tell } = troublePlace();
  const seal = el("button", { type: "button", class: "plain", onclick: () => void sealed() }, "Seal the survey");
  const remove = el("button", { type: "button", class: "plain danger", onclick: () => typed(first, () => void removed()) }, "Delete the survey");
  const words = el("p", { class: "quiet" });
  const element = el("section", { class: "card end", "aria-labelledby": "end" }, el("h2", { id: "end" }, "End it"), words, el("div", {}, seal, remove), place);

  async function sealed(): Promise<void> {
    const consequence = "No report is taken from then on, for ever. What has been counted stays, and can be read.";
    if (!(await sure("Seal this survey?", consequence, "Seal it"))) return;
    await attempt(async () => update({ ...first, ...(await ask<StateBody>(`${path}/seal`, undefined, "POST")) }));
  }

  async function removed(): Promise<void> {
    await attempt(async () => {
      await ask(path, undefined, "DELETE");
      location.assign("/");
    });
  }

  async function attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
      tell(null);
    } catch (error) {
      tell(error);
    }
  }

  function update({ state }: Status): void {
    seal.hidden = state !== "open" || !allows(session, "publish");
    remove.hidden = !allows(session, "admin");
    element.hidden = seal.hidden && remove.hidden;
    fill(words, state === "open" ? "A sealed survey takes no more reports; a deleted one is gone." : "The survey is sealed: it takes no more reports.");
  }

  update(first);
  return { element, update };
}

/** Asks for the title, letter by letter: this is not done by a slip. */
function typed({ title, id }: Status, act: () => void): void {
  const wanted = title || id.slice(0, 12);
  const yes = el("button", { type: "submit", disabled: true }, "Delete for ever");
  const field = el("input", { id: "typed-title", autocomplete: "off", oninput: () => (yes.disabled = field.value.trim() !== wanted.trim()) });
  const close = (): void => dialog.close();
  const form = el(
    "form",
    { method: "dialog", onsubmit: () => act() },
    el("h2", { id: "typed-question" }, "Delete this survey?"),
    el("p", {}, "All its reports and estimates go with it, for ever. Nobody can bring them back."),
    el("label", { for: "typed-title" }, "To go on, type ", el("strong", {}, wanted)),
    field,
    el("div", { class: "sure-answers" }, el("button", { type: "button", class: "plain", onclick: close }, "Cancel"), yes),
  );
  const dialog = el("dialog", { class: "card sure typed", "aria-labelledby": "typed-question", onclose: () => dialog.remove() }, form);
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
}

/** A question that must be answered before something is done that cannot be undone. */
import { el } from "./dom.js";

/**
 * Asks, and is true when the answer is the verb.
 *
 * `await sure("Delete this survey?", "All its reports go with it, for ever.", "Delete")`; Escape and a click beside the
 * question mean no, and the focus goes back to where it was.
 */
export function sure(question: string, consequence: string, verb: string): Promise<boolean> {
  const before = document.activeElement;
  const no = el("button", { type: "button", class: "plain", onclick: () => dialog.close("no") }, "Cancel");
  const yes = el("button", { type: "button", onclick: () => dialog.close("yes") }, verb);
  const dialog = el(
    "dialog",
    {
      class: "card sure",
      "aria-labelledby": "sure-question",
      "aria-describedby": "sure-consequence",
      onclick: (event: MouseEvent) => event.target === dialog && dialog.close("no"),
    },
    el("h2", { id: "sure-question" }, question),
    el("p", { id: "sure-consequence" }, consequence),
    el("div", { class: "sure-answers" }, no, yes),
  );
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before instanceof HTMLElement) before.focus();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
    no.focus();
  });
}

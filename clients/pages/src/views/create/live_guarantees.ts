/** Both guarantees of a survey with a relay while its form is filled in, before anything is checked or published. */
import type { CentralGuarantee, DraftAnswer } from "../../parts/api_types.js";
import { ask } from "../../parts/api.js";
import { el, fill } from "../../parts/dom.js";
import { guaranteesList } from "../../parts/guarantees.js";
import { Refetch } from "../../parts/refetch.js";
import type { SurveyDraft } from "./draft.js";

/** Their place, and what to call when the form has changed; `draft` gives null while there is nothing to tell. */
export function liveGuarantees(draft: () => SurveyDraft | null): { element: HTMLElement; changed: () => void } {
  const element = el("div", { class: "live-guarantees", "aria-live": "polite" });
  const show = (central: CentralGuarantee | null): void => fill(element, central && guaranteesList(central));
  const told = new Refetch<CentralGuarantee | null>(
    async () => {
      const asked = draft();
      if (!element.isConnected) told.stop();
      return asked && element.isConnected ? (await ask<DraftAnswer>("/v1/drafts", asked)).central : null;
    },
    show,
    () => show(null), // what is wrong is said when the form is checked
  );
  return { element, changed: () => told.wanted() };
}

/** A new survey: a form, what the collector makes of it, and then its page. Nothing that was typed is lost. */
import { checkedPanel, nothingChecked } from "../dashboard/form/checked.js";
import { draftOf, filledFrom, filledFromAddress, type Draft, type Faults, type Filled } from "../dashboard/form/draft.js";
import { epsilonControls } from "../dashboard/form/epsilon.js";
import { Fields, radios } from "../dashboard/form/fields.js";
import { mechanismField } from "../dashboard/form/mechanisms.js";
import { publish, type Stated } from "../dashboard/form/publishing.js";
import { questions } from "../dashboard/form/questions.js";
import { KINDS, kindPicture, type Kind } from "../dashboard/list/kinds.js";
import { allows, type Context } from "../dashboard/session.js";
import { ask, Refusal } from "../parts/api.js";
import { el, fill } from "../parts/dom.js";
import { recall, remember } from "../parts/keep.js";
import { inWords, onceInWords, sentence } from "../parts/trouble.js";

const KEPT = "new-survey";
const NOT_YET = "Nothing is published yet.";

export function showCreate(page: HTMLElement, { session }: Context): void {
  if (!allows(session, "publish")) return explain(page);
  const filled = location.search === "" ? filledFrom(recall("sessionStorage", KEPT)) : fromAddress();
  const fields = new Fields();
  const trouble = el("div", { role: "alert" });
  const panel = el("div", { class: "checked" });
  const progress = el("span", { class: "quiet", role: "status" }, NOT_YET);
  const heading = el("h2", { tabindex: "-1" }, "Before it goes out");
  const check = el("button", { type: "submit" }, "Check");
  const mechanism = mechanismField(fields, filled, changed);
  const asked = questions(fields, filled, changed);

  /** Not disabled meanwhile, which would take the focus away. */
  let busy = false;

  function changed(): void {
    remember("sessionStorage", KEPT, JSON.stringify(filled));
    nothingChecked(panel);
  }

  function choose(kind: Kind): void {
    filled.kind = kind;
    asked.show();
    mechanism.show();
    changed();
  }

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    fill(trouble);
    const read = draftOf(filled);
    if ("faults" in read) return refuse(read.faults);
    if (busy) return;
    busy = true;
    fields.clear();
    fill(progress, "Working out the best way to ask…");
    const before = JSON.stringify(filled);
    try {
      const stated = await ask<Stated>("/v1/drafts", read.draft);
      if (JSON.stringify(filled) === before) show(read.draft, stated, read.minimum);
    } catch (error) {
      nothingChecked(panel);
      refused(error);
    } finally {
      busy = false;
      fill(progress, NOT_YET);
    }
  }

  function show(draft: Draft, stated: Stated, minimum: number | null): void {
    const { element, place } = checkedPanel(draft, stated, (button) => void send(button));
    async function send(button: HTMLButtonElement): Promise<void> {
      if (busy) return;
      busy = true;
      fill(button, "Publishing…");
      const before = JSON.stringify(filled);
      try {
        const id = await publish(stated, minimum, (error) =>
          fill(
            place,
            el("p", { class: "trouble" }, `${inWords(error)} Publishing the same survey twice changes nothing.`),
          ),
        );
        if (JSON.stringify(filled) === before) remember("sessionStorage", KEPT, null);
        location.assign(`/survey/${id}`);
      } catch (error) {
        const field = error instanceof Refusal ? error.field : null;
        const said = field === null ? onceInWords(error) : "Not published: something is wrong with what is marked in the form.";
        fill(place, el("p", { class: "trouble" }, said));
        if (field !== null) refused(error);
        fill(button, "Publish");
        busy = false;
      }
    }
    fill(panel, element);
    heading.focus();
  }

  function refused(error: unknown): void {
    const field = error instanceof Refusal ? error.field : null;
    refuse(new Map([[field ?? "", onceInWords(error)]]));
  }

  function refuse(faults: Faults): void {
    const homeless = fields.say(faults);
    fill(trouble, ...homeless.map((what) => el("p", { class: "trouble" }, sentence(what))));
    if (homeless.length > 0) trouble.scrollIntoView({ block: "nearest" });
  }

  const epsilon = epsilonControls(filled.epsilon, (text) => {
    filled.epsilon = text;
    changed();
  });
  const line = (name: "title" | "minimum", given: Record<string, string | boolean>): HTMLInputElement =>
    el("input", {
      type: "text",
      autocomplete: "off",
      value: filled[name],
      ...given,
      oninput: (event: InputEvent) => {
        filled[name] = (event.target as HTMLInputElement).value;
        changed();
      },
    });

  nothingChecked(panel);
  fill(
    page,
    el(
      "div",
      { class: "page-head" },
      el("h1", {}, "New survey"),
      el("button", { type: "button", class: "plain small", onclick: startOver }, "Start over"),
    ),
    el(
      "div",
      { class: "create" },
      el(
        "form",
        { novalidate: true, onsubmit: submit },
        el(
          "fieldset",
          { class: "group" },
          el("legend", {}, "What do you want to know?"),
          el("div", { class: "kind-choices" }, ...radios("kind", filled.kind, kindChoices(), choose)),
        ),
        fields.field(
          "title",
          "Title",
          line("title", { required: true }),
          "People read it before they answer. It cannot be changed later.",
        ),
        asked.element,
        fields.field("epsilon", "Epsilon: how much one report may reveal", epsilon.number, null, epsilon.rest),
        el(
          "details",
          { class: "more", open: filled.mechanism !== "auto" || filled.minimum !== "" },
          el("summary", {}, "More settings"),
          el(
            "div",
            { class: "pair" },
            mechanism.element,
            fields.field(
              "minimum_reports",
              "No estimate before so many reports",
              line("minimum", { inputmode: "numeric" }),
              "Empty: as the collector is set.",
            ),
          ),
        ),
        trouble,
        el("div", { class: "actions" }, check, progress),
      ),
      el("aside", { class: "card", "aria-label": "The survey, checked" }, heading, panel),
    ),
  );

  function startOver(): void {
    remember("sessionStorage", KEPT, null);
    showCreate(page, { session });
    page.querySelector<HTMLInputElement>("input")?.focus();
  }
}

/** What the planner's link says, taken over as if it had been typed: a reload must not undo what is typed after it. */
function fromAddress(): Filled {
  const filled = filledFromAddress(new URLSearchParams(location.search));
  remember("sessionStorage", KEPT, JSON.stringify(filled));
  history.replaceState(null, "", location.pathname);
  return filled;
}

function kindChoices(): Record<Kind, (Node | string)[]> {
  const content = (kind: Kind): Node[] => [
    kindPicture(kind),
    el("strong", {}, KINDS[kind].name),
    el("span", { class: "quiet" }, KINDS[kind].about),
  ];
  return {
    distribution: content("distribution"),
    queries: content("queries"),
    mean: content("mean"),
    adaptive: content("adaptive"),
  };
}

function explain(page: HTMLElement): void {
  fill(
    page,
    el("h1", {}, "New survey"),
    el(
      "p",
      {},
      "Your token cannot publish. To make surveys you need one with the scope publish; an admin can make it:",
    ),
    el("pre", {}, "sottovoce token create --scopes publish"),
  );
}

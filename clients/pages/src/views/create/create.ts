/** A new survey: a form, what the collector makes of it, and then its page. Nothing that was typed is lost. */
import type { DraftAnswer, QuestionEntry, Questions } from "../../parts/api_types.js";
import { checkedPanel, liveGuarantees, nothingChecked } from "./checked.js";
import { calendarFields } from "./calendar_fields.js";
import { designFields, isDesigned } from "./design_fields.js";
import { blank, draftOf, type Filled, filledFrom, filledFromAddress, PREFERRED, publish } from "./draft.js";
import { epsilonControls } from "./epsilon.js";
import { groupFields } from "./group_fields.js";
import { relayFields } from "./relay_fields.js";
import { kindName, kindPicture } from "../../questions/kinds.js";
import { allows, type ViewContext } from "../../parts/session.js";
import { ask, Refusal } from "../../parts/api.js";
import { el, fill } from "../../parts/dom.js";
import { recall, remember } from "../../parts/keep.js";
import { inWords, onceInWords, sentence } from "../../parts/trouble.js";
import { measureOf, type Measure } from "../../questions/kinds.js";
import { askDeclared, isPanel, questionOf } from "../../questions/declared.js";
import { Fields, radios } from "../../questions/fields.js";
import { parameterFields } from "../../questions/parameter_fields.js";
import type { Faults } from "../../questions/typed.js";

const KEPT = "new-survey";
const NOT_YET = "Nothing is published yet.";

export async function showCreate(page: HTMLElement, { session }: ViewContext): Promise<void> {
  if (!allows(session, "publish")) return explain(page);
  const declared = await askDeclared();
  const filled = location.search === "" ? filledFrom(recall("sessionStorage", KEPT)) : takeAddress(declared);
  showForm(page, declared, filled);
}

function showForm(page: HTMLElement, declared: Questions, filled: Filled): void {
  const fields = new Fields();
  const trouble = el("div", { role: "alert" });
  const panel = el("div", { class: "checked" });
  const progress = el("span", { class: "quiet", role: "status" }, NOT_YET);
  const heading = el("h2", { tabindex: "-1" }, "Before it goes out");
  const check = el("button", { type: "submit" }, "Check");
  const asked = el("div", { class: "questions" });
  const design = el("div", { class: "pair" });
  const repeat = el("div");
  const way = el("div");
  const crowd = el("div");
  const guarantees = liveGuarantees(() => {
    // People need a title, guarantees do not.
    const read = filled.relays === "" ? null : draftOf({ ...filled, title: filled.title || "-" }, question, declared.calendar);
    return read && "draft" in read && !isPanel(question) ? read.draft : null;
  });
  let question = questionOf(declared, filled.kind);

  /** Not disabled meanwhile, which would take the focus away. */
  let busy = false;

  function changed(): void {
    remember("sessionStorage", KEPT, JSON.stringify(filled));
    nothingChecked(panel);
    guarantees.changed();
  }

  function choose(kind: string): void {
    filled.kind = kind;
    showQuestion();
    changed();
  }

  function showQuestion(): void {
    question = questionOf(declared, filled.kind);
    const setting = { fields, typed: filled.typed, changed, preferred: PREFERRED };
    fill(asked, ...parameterFields(question.parameters, setting));
    fill(repeat, !isPanel(question) && calendarFields(declared.calendar, fields, filled, changed));
    fill(crowd, !isPanel(question) && groupFields(fields, filled, changed));
    fill(way, !isPanel(question) && relayFields(fields, filled, changed));
    fill(design, ...designFields(question, declared, fields, filled, changed));
  }

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    fill(trouble);
    const read = draftOf(filled, question, declared.calendar);
    if ("faults" in read) return refuse(read.faults);
    if (busy) return;
    busy = true;
    fields.clear();
    fill(progress, "Working out the best way to ask…");
    const before = JSON.stringify(filled);
    try {
      const stated = await ask<DraftAnswer>("/v1/drafts", read.draft);
      if (JSON.stringify(filled) === before) show(measureOf(read.draft.kind, read.draft.parameters), stated, read.minimum);
    } catch (error) {
      nothingChecked(panel);
      refused(error);
    } finally {
      busy = false;
      fill(progress, NOT_YET);
    }
  }

  function show(measure: Measure, stated: DraftAnswer, minimum: number | null): void {
    const { element, place } = checkedPanel(measure, stated, (button) => void send(button));
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
  const title = el("input", {
    type: "text",
    autocomplete: "off",
    required: true,
    value: filled.title,
    oninput: () => {
      filled.title = title.value;
      changed();
    },
  });

  showQuestion();
  nothingChecked(panel);
  guarantees.changed();
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
          el("div", { class: "kind-choices" }, ...radios("kind", question.kind, kindChoices(declared.questions), choose)),
        ),
        fields.field(
          "title",
          "Title",
          title,
          "People read it before they answer. It cannot be changed later.",
        ),
        asked,
        repeat,
        way,
        fields.field("epsilon", "Epsilon: how much one report may reveal", epsilon.number, null, epsilon.rest),
        guarantees.element,
        crowd,
        el(
          "details",
          { class: "more", open: isDesigned(filled) },
          el("summary", {}, "More settings"),
          design,
        ),
        trouble,
        el("div", { class: "actions" }, check, progress),
      ),
      el("aside", { class: "card", "aria-label": "The survey, checked" }, heading, panel),
    ),
  );

  function startOver(): void {
    remember("sessionStorage", KEPT, null);
    showForm(page, declared, blank());
    page.querySelector<HTMLInputElement>("input")?.focus();
  }
}

/** What the planner's link says, taken over as if it had been typed: a reload must not undo what is typed after it. */
function takeAddress({ questions, calendar }: Questions): Filled {
  const parameters = [...questions.flatMap((question) => question.parameters), ...calendar];
  const filled = filledFromAddress(new URLSearchParams(location.search), parameters);
  remember("sessionStorage", KEPT, JSON.stringify(filled));
  history.replaceState(null, "", location.pathname);
  return filled;
}

const kindChoices = (questions: readonly QuestionEntry[]): Record<string, Node[]> =>
  Object.fromEntries(
    questions.map(({ kind, summary }) => [
      kind,
      [kindPicture(kind), el("strong", {}, kindName(kind)), el("span", { class: "quiet" }, sentence(summary))],
    ]),
  );

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

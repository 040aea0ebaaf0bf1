/** The question: what is asked, by whom, what it costs, and where the person says what is true of them. */
import { type Ledger, Panel, Tracking } from "../../../js/src/index.js";
import { LabelDomain } from "../../../js/src/domain/domain.js";
import { el, fill } from "../parts/dom.js";
import { named } from "../parts/format.js";
import type { Field } from "./fields/field.js";
import { givenGroup, groupField, groupsOf } from "./group_view.js";
import { kindOf } from "./kinds/registry.js";
import { ledgerView } from "./ledger_view.js";
import type { Found } from "./machine.js";
import { heading, meaning, relayed } from "./promise_view.js";
import { elseLabel, plain } from "./fields/values.js";
import { cost, type MyTurn, renewals } from "./turn_view.js";
import { deadline } from "./turn_words.js";
import { who } from "./who_view.js";

/** `draw` is called with the person's answer when they want to see what would leave. */
export function questionView(
  found: Found,
  origin: string,
  ledger: Ledger,
  draw: (value: unknown, group: unknown) => void,
  /** Whose turn it is, for a tracking survey. */
  turn: MyTurn | null = null,
  /** The group that the link names; empty for none. */
  given = "",
): HTMLElement {
  const { survey } = found;
  const period = turn?.receipt.period ?? null;
  const kind = kindOf(survey);
  const [what, learns] = kind.words;
  const field = kind.field("Your answer", "answer");
  const groups = groupsOf(survey);
  const group = groups && groupField(groups, givenGroup(groups, given));
  const problem = el("p", { class: "trouble", role: "alert", hidden: true });
  const submit = (event: Event): void => {
    event.preventDefault();
    const wrong = [field, ...(group ? [group] : [])].find((one) => one.read() === null);
    fill(problem, wrong?.problem() ?? "");
    problem.hidden = wrong === undefined;
    if (wrong) wrong.focus();
    else draw(field.read(), group?.read() ?? undefined);
  };
  const form = el(
    "form",
    { class: "card", autocomplete: "off", novalidate: true, onsubmit: submit, oninput: () => (problem.hidden = true) },
    field.element,
    elsewise(survey.domain instanceof LabelDomain ? survey.domain : null, field, kind.unfitting),
    group?.element,
    problem,
    el("p", { class: "go" }, el("button", { type: "submit" }, "See what would leave")),
    el(
      "p",
      { class: "quiet small" },
      "This draws your random report, once and for all, and shows it to you. Nothing is sent yet.",
      survey instanceof Panel && " If the question for this device is not open yet, nothing is drawn either.",
    ),
  );
  return el(
    "div",
    { class: "view" },
    heading(survey.title, origin),
    el("p", { class: "lead" }, period && el("b", {}, `It is your turn, about ${named(period.label)}. `), what, " ", learns),
    period && el("p", { class: "quiet small" }, deadline(period)),
    form,
    turn && renewals(turn),
    el(
      "section",
      { class: "card", "aria-labelledby": "cost" },
      el("h2", { id: "cost" }, "What it means for you"),
      survey instanceof Tracking && cost(survey),
      meaning(survey.epsilon),
      relayed(survey.relay, origin),
      ledgerView(ledger, survey.epsilon, false),
    ),
    who(found, origin),
  );
}

/** For whom nothing fits, or who would rather not say. */
export function elsewise(labels: LabelDomain | null, field: Field, unfitting: string): HTMLElement {
  const other = labels && (labels.missing === null ? elseLabel(labels.names) : String(labels.missing));
  const choose = () => other !== null && field.set?.(other);
  return el(
    "details",
    { class: "elsewise" },
    el("summary", {}, "Nothing fits, or you would rather not say?"),
    el(
      "p",
      {},
      "You need not take part. But decide that by the question, not by your answer: a person who stays silent because of " +
        "what they would have said tells something by their silence, and a report tells less.",
    ),
    other !== null && field.set
      ? el(
          "p",
          {},
          `“${plain(other)}” stands for everything else, and looks like every other answer from outside. `,
          el("button", { type: "button", class: "plain", onclick: choose }, `Choose “${plain(other)}”`),
        )
      : unfitting !== "" && el("p", {}, unfitting),
  );
}

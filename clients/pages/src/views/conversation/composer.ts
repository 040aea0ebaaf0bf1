/** Where the next question is written, checked by the collector, looked at, and then asked. */
import { Refusal, Unreachable } from "../../parts/api.js";
import type { QuestionAnswer } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { count, figure } from "../../parts/format.js";
import { recall, remember } from "../../parts/keep.js";
import { inWords, sentence } from "../../parts/trouble.js";
import { chips, help } from "./help.js";
import { placeOf, queryText } from "./query.js";
import { asksChoice, asWholeRadius, type RoundStatement } from "./reading.js";
import { draftQuestion, type PanelStatement } from "./rounds.js";
import { attributesOf, examples } from "./words.js";

/** How the survey stands, as far as the next question is concerned. */
interface PanelStanding {
  /** The number of the next round, and of all. */
  next: number;
  rounds: number;
  /** The number of the round that is open; null when none is. */
  open: number | null;
  /** Whether that one has too few reports for an answer. */
  short: boolean;
}

export interface Composer {
  host: HTMLElement;
  update(standing: PanelStanding): void;
  focus(): void;
}

/** Makes the composer; `submit` closes the open round, if there is one, and asks. */
export function composer(id: string, survey: PanelStatement, submit: (draft: QuestionAnswer) => Promise<void>): Composer {
  const attributes = attributesOf(survey.panel.domain);
  const kept = `question.${id}`;
  const heading = el("h2", { id: "next-question" });
  const wrong = el("div", { class: "trouble", id: "question-wrong", role: "alert", hidden: true });
  const field = el("textarea", {
    id: "question", rows: 2, spellcheck: "false", autocapitalize: "off", autocomplete: "off",
    maxlength: 4096, "aria-describedby": "question-wrong",
    placeholder: `about one person: ${examples(attributes, survey.panel.radius)[0] ?? "value == 1"}`,
    oninput: () => changed(), onkeydown: (event: KeyboardEvent) => key(event),
  });
  const names = el("textarea", { id: "choices", rows: 3, spellcheck: "false", oninput: () => changed() });
  const namesHost = el(
    "div",
    { class: "choice-names", hidden: true },
    el("label", { for: "choices" }, "What the numbers 0, 1, 2 and so on are called, one per line"),
    names,
    el("p", { class: "quiet" }, "Press an attribute's name to ask how people are spread over it."),
  );
  const check = el("button", { type: "submit" }, "Preview the question");
  const draftHost = el("div", { class: "draft", "aria-live": "polite" });
  const kinds = ["mean", "choice"].map((kind) =>
    el("input", { type: "radio", name: "asks-for", id: `asks-${kind}`, value: kind, checked: kind === "mean", onchange: () => changed() }),
  ) as [HTMLInputElement, HTMLInputElement];
  const form = el(
    "form",
    {
      class: "composer card", "aria-labelledby": "next-question", novalidate: true,
      onsubmit: (event: Event) => (event.preventDefault(), void look()),
    },
    heading,
    el(
      "fieldset",
      { class: "either" },
      el("legend", { class: "visually-hidden" }, "What is asked for"),
      kinds[0], el("label", { for: "asks-mean" }, "A share or a mean"),
      kinds[1], el("label", { for: "asks-choice" }, "A choice among several"),
    ),
    el("label", { for: "question", class: "visually-hidden" }, "Question"),
    field,
    wrong,
    namesHost,
    chips(attributes, field, () => kinds[1].checked && ["", written].includes(field.value.trim()), takeChoice),
    help(attributes, survey.panel.radius, (text) => take(text)),
    el("p", { class: "deeds" }, check),
    draftHost,
  );
  let standing: PanelStanding = { next: 1, rounds: survey.panel.rounds, open: null, short: false };
  let asked = 0;
  let shown: QuestionAnswer | null = null;
  let submitting = false;
  let written = ""; // by a chip: another chip may write something else in its place
  restore();

  function take(text: string): void {
    field.value = text;
    changed();
    field.focus();
  }

  function takeChoice(query: string, labels: string[]): void {
    names.value = labels.join("\n");
    written = query;
    take(query);
  }

  function key(event: KeyboardEvent): void {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  }

  /** What was checked is no longer what stands there. */
  function changed(): void {
    asked += 1;
    wrong.hidden = true;
    field.removeAttribute("aria-invalid");
    namesHost.hidden = !kinds[1].checked;
    clear();
    keep();
  }

  function clear(): void {
    shown = null;
    fill(draftHost);
  }

  async function look(): Promise<void> {
    const mine = ++asked;
    const labels = names.value.split("\n").map((name) => name.trim()).filter((name) => name !== "");
    check.disabled = true;
    wrong.hidden = true;
    field.removeAttribute("aria-invalid");
    try {
      const found = await draftQuestion(id, field.value, kinds[1].checked ? labels : null);
      if (mine === asked) show(found).focus();
    } catch (error) {
      if (mine === asked) refuse(error as Error);
    } finally {
      check.disabled = false;
    }
  }

  function show(found: QuestionAnswer): Preview {
    let warned = false;
    const made = preview(found, survey, standing.open, {
      ask: () => {
        if (!standing.short || warned) return void open(found);
        warned = true;
        const lost = `Round ${standing.open} has too few reports: closed now, it never has an answer.`;
        made.warn(`${lost} Press again to close it all the same.`);
      },
      change: () => field.focus(),
      instead: (text) => (take(text), void look()),
    });
    shown = found;
    fill(draftHost, made.host);
    return made;
  }

  /** The preview says what asking would do now: a round that was closed or opened meanwhile takes no words away. */
  function showAgain(): void {
    if (shown === null) return;
    const focused = draftHost.contains(document.activeElement);
    if (shown.round !== standing.next) return clear();
    const made = show(shown);
    rest(submitting);
    if (focused) made.focus();
  }

  function refuse(error: Error): void {
    const place = placeOf(error.message, field.value);
    const aboutNames = error instanceof Refusal && /choice|label/u.test(error.field ?? "");
    const away = error instanceof Unreachable && "The collector does not answer. Your words are kept: try again in a moment.";
    fill(wrong, away || inWords(error), place !== null && el("p", {}, queryText(field.value, place)));
    wrong.hidden = false;
    field.setAttribute("aria-invalid", "true");
    (aboutNames && !namesHost.hidden ? names : field).focus();
    if (place !== null) field.setSelectionRange(place, place);
  }

  async function open(found: QuestionAnswer): Promise<void> {
    rest(true);
    try {
      await submit(found);
      field.value = names.value = "";
      changed();
    } catch (error) {
      refuse(error as Error);
    } finally {
      rest(false);
    }
  }

  /** While a round is being asked, its preview cannot be pressed again. */
  function rest(resting: boolean): void {
    submitting = resting;
    for (const button of draftHost.querySelectorAll("button")) button.disabled = resting;
  }

  /** A reload loses nothing; another tab has words of its own. */
  function keep(): void {
    remember("sessionStorage", kept, JSON.stringify([field.value, names.value, kinds[1].checked]));
  }

  function restore(): void {
    const [text, choices, choice] = JSON.parse(recall("sessionStorage", kept) ?? "[]") as [string?, string?, boolean?];
    field.value = text ?? "";
    names.value = choices ?? "";
    kinds[1].checked = choice === true;
    namesHost.hidden = !kinds[1].checked;
  }

  return {
    host: form,
    update(now) {
      const moved = now.open !== standing.open || now.next !== standing.next;
      standing = now;
      fill(heading, now.open === null ? `Ask round ${now.next} of ${now.rounds}` : `Prepare round ${now.next} of ${now.rounds}`);
      if (moved) showAgain();
    },
    focus: () => field.focus(),
  };
}

// A question as the collector would ask it, before anybody is asked: its text, its number, what it costs.

/** What can be done with it. */
interface Deeds {
  ask: () => void;
  change: () => void;
  /** Look at this text instead. */
  instead: (text: string) => void;
}

/** Most names of choices that are listed. */
const NAMES_SHOWN = 24;

interface Preview {
  host: HTMLElement;
  focus(): void;
  /** Say what asking would do; the next press does it. */
  warn(words: string): void;
}

/** The draft as it would be asked; `open` is the number of the round that must be closed before. */
function preview(draft: QuestionAnswer, survey: PanelStatement, open: number | null, deeds: Deeds): Preview {
  const asked = JSON.parse(draft.statement) as RoundStatement;
  const better = asksChoice(asked) ? null : asWholeRadius(draft.query, asked.seat.query, survey.panel.radius);
  const left = draft.rounds - draft.round;
  const does = open === null ? `Ask round ${draft.round}` : `Close round ${open} and ask this`;
  const go = el("button", { type: "button", class: "ask-round", onclick: deeds.ask }, does);
  const names = draft.labels.slice(0, NAMES_SHOWN).map((label) => el("li", {}, label));
  const warning = el("p", { class: "warning", role: "alert" });
  const host = el(
    "div",
    { class: "preview" },
    el("h3", {}, `Round ${draft.round} of ${draft.rounds} would ask`),
    queryText(draft.query),
    names.length > 0 && el("ul", { class: "names", "aria-label": "choices" }, ...names),
    better !== null &&
      el(
        "p",
        { class: "hint" },
        `Asked as ${figure(survey.panel.radius)} or −${figure(survey.panel.radius)} instead of 1 or 0, the same share comes with `,
        `half the error${survey.panel.radius === 1 ? "" : " or less"}. `,
        el("button", { type: "button", class: "plain small", onclick: () => deeds.instead(better) }, "Ask it that way"),
      ),
    el(
      "p",
      { class: "quiet" },
      `A person who drew this round answers it once, for epsilon ${figure(survey.epsilon)}, and no other round: `,
      "that is all this survey ever costs a person. ",
      `${sentence(draft.n_expected_note)} `,
      left === 0 ? "It is the last round." : `${count(left)} more ${left === 1 ? "round is" : "rounds are"} left after it.`,
    ),
    warning,
    el("p", { class: "deeds" }, go, " ", el("button", { type: "button", class: "plain", onclick: deeds.change }, "Change it")),
  );
  return { host, focus: () => go.focus(), warn: (words) => fill(warning, words) };
}

/** A question as the collector would ask it, before anybody is asked: its text, its number, what it costs. */
import type { QuestionAnswer } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { count, figure } from "../../parts/format.js";
import { sentence } from "../../parts/trouble.js";
import { queryText } from "./query.js";
import { asksChoice, asWholeRadius, type RoundStatement } from "./reading.js";
import type { PanelStatement } from "./rounds.js";

/** What can be done with it. */
export interface Deeds {
  ask: () => void;
  change: () => void;
  /** Look at this text instead. */
  instead: (text: string) => void;
}

/** Most names of choices that are listed. */
const NAMES_SHOWN = 24;

export interface Preview {
  host: HTMLElement;
  focus(): void;
  /** Say what asking would do; the next press does it. */
  warn(words: string): void;
}

/** The draft as it would be asked; `open` is the number of the round that must be closed before. */
export function preview(draft: QuestionAnswer, survey: PanelStatement, open: number | null, deeds: Deeds): Preview {
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
      `Whoever drew this round answers it once, for epsilon ${figure(survey.epsilon)}, and no other round: `,
      "that is all this survey ever costs a person. ",
      `${sentence(draft.n_expected_note)} `,
      left === 0 ? "It is the last round." : `${count(left)} more ${left === 1 ? "round is" : "rounds are"} left after it.`,
    ),
    warning,
    el("p", { class: "deeds" }, go, " ", el("button", { type: "button", class: "plain", onclick: deeds.change }, "Change it")),
  );
  return { host, focus: () => go.focus(), warn: (words) => fill(warning, words) };
}

/** What a list of words says besides the words, and a box to ask for the share of any one of them. */
import type { AnswerRow, Picture, WordsAnswer } from "../../parts/api_types.js";
import { ask, Refusal } from "../../parts/api.js";
import { el, fill } from "../../parts/dom.js";
import { percent, plain } from "../../parts/format.js";
import { onceInWords } from "../../parts/trouble.js";
import { Refetch } from "../../parts/refetch.js";
import { shareWords, wordFacts } from "./words_told.js";

interface WordsView {
  element: HTMLElement;
  update(picture: Picture): void;
  stop(): void;
}

/** Hidden for all other questions. */
export function wordsView(id: string): WordsView {
  const facts = el("dl", { class: "certified" });
  const input = el("input", { id: "ask-word", type: "text", dir: "auto", autocomplete: "off", autocapitalize: "none", spellcheck: "false" });
  const told = el("p", { class: "asked", role: "status" });
  const element = el(
    "section",
    { class: "card asking", "aria-labelledby": "one-word", hidden: true },
    el("h2", { id: "one-word" }, "Any one word"),
    el(
      "form",
      { novalidate: true, autocomplete: "off", onsubmit: (event: SubmitEvent) => (event.preventDefault(), submit()) },
      el("div", { class: "field" }, el("label", { for: input.id }, "What share of people has this word?"), input),
      el("button", { type: "submit" }, "Look it up"),
    ),
    told,
    el("p", { class: "quiet before" }, "Its interval holds for a word that was chosen before looking at the list above."),
    el("h3", {}, "About the list"),
    facts,
  );
  let asked: string | null = null;
  let level = 0.95;
  let always = false;
  let listed: ReadonlySet<string> = new Set();
  const answers = new Refetch<WordsAnswer>(
    () => ask(`/v1/surveys/${id}/words?${new URLSearchParams({ word: asked ?? "", level: String(level), always: always ? "1" : "0" })}`),
    ({ answers: [row] }) => row !== undefined && fill(told, ...answerOf(row, level, listed.has(row.label))),
    (error) => {
      fill(told, onceInWords(error));
      if (error instanceof Refusal) asked = null;
    },
  );

  function submit(): void {
    asked = input.value.trim() === "" ? null : input.value;
    if (asked === null) input.focus();
    else answers.wanted();
  }

  return {
    element,
    update(picture) {
      element.hidden = picture.certain === null;
      if (element.hidden) return;
      level = picture.level;
      always = picture.always !== null;
      listed = new Set(picture.labels);
      fill(facts, ...wordFacts(picture).map(([name, value, words]) =>
        el("div", {}, el("dt", {}, name), el("dd", {}, el("strong", { class: "figures" }, value), el("span", {}, words)))));
      if (asked !== null) answers.wanted();
    },
    stop: () => answers.stop(),
  };
}

/** A word as the collector counts it, with its share. */
const answerOf = (row: AnswerRow, level: number, listed: boolean): (Node | string)[] => [
  el("bdi", {}, plain(row.label)),
  el("strong", { class: "figures" }, percent(row.value ?? 0)),
  ` ${shareWords(row, level, listed)}`,
];

/** A round's answer in words: one large number and its interval, or the choice that most people have. */
import type { Picture } from "../../parts/api_types.js";
import { el } from "../../parts/dom.js";
import { intervalText } from "./picture.js";
import { shownAnswer, type Reading } from "./reading.js";

/** What the answer is about, in a word or two. */
const ABOUT = { share: "of people", mean: "on average", choice: "is the most common" } as const;

export function answerWords(reading: Reading, picture: Picture, names: string[], open: boolean): HTMLElement[] {
  const i = reading.as === "choice" ? picture.value.indexOf(Math.max(...picture.value.map((value) => value ?? -Infinity))) : 0;
  const shown = shownAnswer(reading, picture.value[i]!, picture.low[i] ?? null, picture.high[i] ?? null);
  const position = picture.positions?.[i] ?? i;
  const name = names[position] ?? picture.labels[i] ?? String(position);
  const large = reading.as === "choice" ? name : reading.text(shown.value);
  const beside = reading.as === "choice" ? `${ABOUT.choice}, with ${reading.text(shown.value)}` : ABOUT[reading.as];
  return [
    el(
      "p",
      { class: "large figures" },
      open && el("span", { class: "so-far" }, "so far "),
      large,
      " ",
      el("span", { class: "beside" }, beside),
    ),
    el("p", { class: "interval quiet figures" }, intervalText(shown, picture.level, reading.text)),
  ];
}

/** The answer on one line, for the summary. */
export function answerLine(reading: Reading, picture: Picture, names: string[]): { answer: string; interval: string } {
  const [large, interval] = answerWords(reading, picture, names, false);
  return { answer: large!.textContent ?? "", interval: (interval!.textContent ?? "").replace(/^.*interval /u, "") };
}

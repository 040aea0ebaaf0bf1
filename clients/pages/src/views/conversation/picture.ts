/** Small pictures of one round's answer: a bar between its ends with the interval on it, or a bar for every choice. */
import type { Picture } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { count, figure, percent } from "../../parts/format.js";
import { type Reading, shownAnswer, type ShownAnswer } from "./reading.js";

/** A picture that goes on with new numbers. */
export interface SmallPicture {
  host: HTMLElement;
  update(picture: Picture): void;
}

/** Most choices that are drawn at once; the others wait behind a button. */
const DRAWN = 12;

/** The picture that suits the reading; `names` are the choices' own, where the round has some. */
export function smallPicture(reading: Reading, names: string[]): SmallPicture {
  return reading.as === "choice" ? choices(names) : between(reading);
}

/** The answer between the ends it can have, with its interval. */
function between(reading: Reading): SmallPicture {
  const place = (value: number): number => {
    const share = (value - reading.from) / (reading.to - reading.from);
    return 100 * Math.min(1, Math.max(0, share));
  };
  const zero = place(Math.min(reading.to, Math.max(reading.from, 0)));
  const amount = el("span", { class: "amount" });
  const band = el("span", { class: "band" });
  const dot = el("span", { class: "dot" });
  const track = el("span", { class: "track", role: "img" }, amount, band, dot);
  if (reading.as === "mean") {
    const tick = el("span", { class: "tick" });
    tick.style.left = `${zero}%`;
    track.append(tick);
  }
  const middle = (reading.from + reading.to) / 2;
  const ends = [reading.from, middle, reading.to].map((end) => el("span", {}, reading.text(end)));
  return {
    host: el("div", { class: "between figures" }, track, el("span", { class: "ends", "aria-hidden": "true" }, ...ends)),
    update(picture) {
      const shown = shownAnswer(reading, picture.value[0]!, picture.low[0] ?? null, picture.high[0] ?? null);
      const at = place(shown.value);
      amount.style.left = `${Math.min(zero, at)}%`;
      amount.style.width = `${Math.abs(at - zero)}%`;
      dot.style.left = `${at}%`;
      band.hidden = shown.low === null || shown.high === null;
      if (shown.low !== null && shown.high !== null) {
        band.style.left = `${place(shown.low)}%`;
        band.style.width = `${place(shown.high) - place(shown.low)}%`;
      }
      track.setAttribute("aria-label", `${reading.text(shown.value)}, ${intervalText(shown, picture, reading.text)}`);
    },
  };
}

/** "95 % interval 20.2 % to 24.5 %". */
function intervalText(shown: ShownAnswer, { level, always }: Pick<Picture, "level" | "always">, text: (value: number) => string): string {
  if (shown.low === null || shown.high === null) return "no interval is known";
  return `${percent(level)} interval ${text(shown.low)} to ${text(shown.high)}${always === null ? "" : ", however often you look"}`;
}

interface ChoiceRow {
  row: HTMLTableRowElement;
  label: HTMLElement;
  amount: HTMLElement;
  band: HTMLElement;
  value: HTMLElement;
  interval: HTMLElement;
}

/** A bar for every choice: a table, so that the numbers stand beside the bars. */
function choices(names: string[]): SmallPicture {
  const body = el("tbody");
  const caption = el("caption", { class: "visually-hidden" });
  const heads = ["choice", "", "share", "interval"].map((head) => el("th", { scope: "col" }, head));
  const top = el("thead", { class: "visually-hidden" }, el("tr", {}, ...heads));
  const table = el("table", { class: "choices figures" }, caption, top, body);
  const rows: ChoiceRow[] = [];
  let all = false;
  let last: Picture | null = null;
  const more = el("button", { class: "plain small", type: "button", onclick: () => showAll() });
  const host = el("div", {}, table, more);

  function showAll(): void {
    all = true;
    if (last !== null) update(last);
  }

  function update(picture: Picture): void {
    last = picture;
    const listed = picture.value.length;
    const largest = Math.max(...picture.high.map((end, i) => end ?? picture.value[i]!), 0.01);
    const order = listed > DRAWN ? picture.value.map((_, i) => i).sort((a, b) => picture.value[b]! - picture.value[a]!) : null;
    const drawn = all ? listed : Math.min(listed, DRAWN);
    while (rows.length < drawn) rows.push(addRow(body));
    for (const [place, row] of rows.entries()) {
      const i = order === null ? place : order[place]!;
      const position = picture.positions?.[i] ?? i;
      const [value, low, high] = [picture.value[i]!, picture.low[i] ?? null, picture.high[i] ?? null];
      fill(row.label, names[position] ?? picture.labels[i] ?? String(position));
      row.amount.style.width = `${(100 * value) / largest}%`;
      row.band.hidden = low === null || high === null;
      row.band.style.left = `${(100 * Math.max(0, low ?? 0)) / largest}%`;
      row.band.style.width = `${(100 * (Math.min(1, high ?? 0) - Math.max(0, low ?? 0))) / largest}%`;
      fill(row.value, percent(value));
      fill(row.interval, low === null || high === null ? "" : `${figure(100 * low)} to ${percent(high)}`);
    }
    fill(caption, `Shares of ${count(picture.answers)} choices, with ${percent(picture.level)} intervals${picture.always === null ? "" : " that hold however often you look"}`);
    more.hidden = drawn === listed;
    fill(more, `Show all ${count(listed)}`);
  }
  return { host, update };
}

function addRow(body: HTMLElement): ChoiceRow {
  const [label, amount, band] = [el("th", { scope: "row" }), el("span", { class: "amount" }), el("span", { class: "band" })];
  const [value, interval] = [el("td", { class: "value" }), el("td", { class: "interval quiet" })];
  const bar = el("td", { class: "bar", "aria-hidden": "true" }, el("span", { class: "track" }, amount, band));
  const row = el("tr", {}, label, bar, value, interval);
  body.append(row);
  return { row, label, amount, band, value, interval };
}

// A round's answer in words: one large number and its interval, or the choice that most people have.

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
    el("p", { class: "interval quiet figures" }, intervalText(shown, picture, reading.text)),
  ];
}

/** The answer on one line, for the summary. */
export function answerLine(reading: Reading, picture: Picture, names: string[]): { answer: string; interval: string } {
  const [large, interval] = answerWords(reading, picture, names, false);
  return { answer: large!.textContent ?? "", interval: (interval!.textContent ?? "").replace(/^.*interval /u, "") };
}

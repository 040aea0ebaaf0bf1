/** One round of the conversation: what was asked, and the answer as far as it is known. */
import { Refusal } from "../../parts/api.js";
import type { Picture, RoundStatus } from "../../parts/api_types.js";
import { sure } from "../../parts/dialog.js";
import { el, fill } from "../../parts/dom.js";
import { count, counted } from "../../parts/format.js";
import { answerWords, smallPicture, type SmallPicture } from "./picture.js";
import { queryText } from "./query.js";
import { type Reading, readingOf } from "./reading.js";
import { pictureOf, roundStatement } from "./rounds.js";

/** What a round must know of the others. */
export interface Surroundings extends Filling {
  close: (round: RoundStatus) => Promise<void>;
  /** Hears the answer of a round that is closed and counted. */
  answered: (round: RoundStatus, reading: Reading, picture: Picture) => void;
  say: (words: string) => void;
}

/** A round on the page. */
export interface RoundView {
  element: HTMLLIElement;
  info: RoundStatus;
  update(info: RoundStatus, around: Surroundings): void;
  /** Fetch its answer although nobody has scrolled to it. */
  reveal(): void;
}

/** Milliseconds between two looks at the estimate of a round that fills. */
const LOOK_EVERY = 1_500;
/** Milliseconds after which an estimate that could not be fetched is asked for again. */
const TRY_AGAIN = 5_000;

/** Most names of choices that stand with the question. */
const NAMES_SHOWN = 12;

/** The round on the page; its answer is fetched when somebody can see it. */
export function roundView(first: RoundStatus, around: Surroundings): RoundView {
  const answer = el("div", { class: "answer card", role: "group", "aria-label": `Answer of round ${first.round}` });
  const named = first.labels.slice(0, NAMES_SHOWN).map((label) => el("li", {}, label));
  const left = first.labels.length - named.length;
  const question = el(
    "div",
    { class: "question" },
    el("h2", {}, `Round ${first.round}`),
    queryText(first.query),
    named.length > 0 && el("ul", { class: "names", "aria-label": "choices" }, ...named, left > 0 && el("li", {}, `and ${left} more`)),
  );
  const element = el("li", { class: "round", "data-round": first.round, tabindex: "-1" }, question, answer);

  const figureHost = el("div", { class: "told" });
  const pictureHost = el("div", { class: "small-picture" });
  const note = el("p", { class: "quiet note" });
  const foot = el("p", { class: "quiet foot figures" });
  const filling = fillingBar(() => void around.close(view.info));
  fill(answer, figureHost, pictureHost, filling.host, note, foot);

  let reading: Reading | null = null;
  let picture: SmallPicture | null = null;
  let lookedAt = "";
  let looking = false;
  let seen = false;
  let refused = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const view: RoundView = { element, info: first, update, reveal };

  function update(info: RoundStatus, given: Surroundings): void {
    const before = view.info;
    view.info = info;
    around = given;
    element.dataset["state"] = info.state;
    const open = info.state === "open";
    filling.host.hidden = !open;
    if (open) filling.update(info, around);
    const enough = info.n_reports >= Math.max(1, around.minimum);
    if (open && enough && before.n_reports < around.minimum) around.say(`Round ${info.round} has reached its minimum of reports.`);
    fill(foot, footWords(info));
    fill(note, noteWords(info, enough));
    note.hidden = note.textContent === "";
    if (!enough) return;
    if (seen) void look();
  }

  function footWords(info: RoundStatus): string {
    if (info.state === "open") return "";
    const late = info.waiting > 0 ? ` · ${counted(info.waiting, "report")} still to be counted` : "";
    return `${counted(info.n_reports, "report")} · closed${late}`;
  }

  function noteWords(info: RoundStatus, enough: boolean): string {
    if (info.state !== "open" && (!enough || refused) && info.waiting === 0) {
      const came = counted(info.n_reports, "report");
      return `No answer is shown: ${came} came, and ${around.minimum} are needed. The round is used up.`;
    }
    if (info.state === "open" && enough) {
      return (
        "So far. Close by the count or by the clock, not by what this says: " +
        "an interval holds for a moment that was not chosen by looking."
      );
    }
    return "";
  }

  /** Fetch the estimate unless it has been fetched as the round stands now; not more often than every so often. */
  async function look(): Promise<void> {
    const stands = `${view.info.state} ${view.info.n_reports} ${view.info.waiting === 0}`;
    if (looking || timer !== undefined || stands === lookedAt || refused) return;
    looking = true;
    const closed = view.info.state !== "open" && view.info.waiting === 0;
    let pause = LOOK_EVERY;
    try {
      reading ??= readingOf(await roundStatement(first.id));
      const found = await pictureOf(first.id);
      lookedAt = stands;
      show(reading, found, closed);
      if (closed) around.answered(view.info, reading, found);
    } catch (error) {
      // A round may have a minimum of its own. Everything else is tried again in a while.
      refused = closed && error instanceof Refusal && error.status === 409;
      if (refused) update(view.info, around);
      pause = TRY_AGAIN;
    } finally {
      looking = false;
      timer = setTimeout(() => {
        timer = undefined;
        if (element.isConnected && view.info.n_reports >= Math.max(1, around.minimum)) void look();
      }, pause);
    }
  }

  function show(read: Reading, found: Picture, closed: boolean): void {
    if (picture === null) {
      picture = smallPicture(read, first.labels);
      fill(pictureHost, picture.host);
    }
    picture.update(found);
    fill(figureHost, ...answerWords(read, found, first.labels, !closed));
  }

  function reveal(): void {
    if (seen) return;
    seen = true;
    watcher.disconnect();
    update(view.info, around);
  }

  // Estimates of rounds far up the page are fetched when somebody scrolls to them.
  const near = (entries: IntersectionObserverEntry[]): void => {
    if (entries.some((entry) => entry.isIntersecting)) reveal();
  };
  const watcher = new IntersectionObserver(near, { rootMargin: "400px" });
  watcher.observe(element);
  update(first, around);
  return view;
}

// A round that fills: its count against the minimum and against what earlier rounds had, and the button that closes it.

/** What one round's bar says. */
export function fillingWords(n: number, waiting: number, minimum: number, expected: number | null): string {
  const reached = n >= minimum ? `the minimum of ${count(minimum)} is reached` : `${count(minimum)} are needed for an answer`;
  const usual = expected === null ? "" : `; earlier rounds had ${count(Math.round(expected))} on average`;
  const late = waiting > 0 ? `; ${count(waiting)} more on their way` : "";
  return `${reached}${usual}${late}`;
}

/** How long the whole bar is, in reports: room for the minimum, and for as many as earlier rounds had. */
export const barLength = (n: number, minimum: number, expected: number | null): number =>
  Math.max(n, minimum * (expected === null ? 1.25 : 1), (expected ?? 0) * 1.1, 1);

/** What the bar must know beside its round. */
interface Filling {
  minimum: number;
  /** How many reports earlier rounds had on average; null before the first is closed. */
  expected: number | null;
  /** Whether this session may close rounds. */
  mayAsk: boolean;
  /** Whether another round can follow. */
  more: boolean;
}

interface FillingBar {
  host: HTMLElement;
  update(info: RoundStatus, around: Filling): void;
}

function fillingBar(close: () => void): FillingBar {
  const number = el("span", { class: "large figures" });
  const words = el("span", { class: "quiet" });
  const amount = el("span", { class: "amount" });
  const minimumTick = el("span", { class: "tick", title: "minimum" });
  const expectedTick = el("span", { class: "tick usual", title: "earlier rounds" });
  const bar = { class: "track", role: "progressbar", "aria-label": "Reports of this round" };
  const track = el("span", bar, amount, minimumTick, expectedTick);
  const button = el("button", { type: "button", class: "close-round", onclick: () => pressed() });
  const tooFew = el(
    "div",
    { class: "too-few", role: "group", "aria-label": "Close with too few reports?", hidden: true },
    el("p", {}, "Too few reports have come: closed now, this round never has an answer, and it cannot be opened again."),
    el("button", { type: "button", class: "wait", onclick: () => (hush(), button.focus()) }, "Wait for more"),
    " ",
    el("button", { type: "button", class: "plain", onclick: () => (hush(), close()) }, "Close it all the same"),
  );
  let enough = false;

  function pressed(): void {
    if (enough) return void asked();
    tooFew.hidden = false;
    tooFew.querySelector<HTMLButtonElement>(".wait")!.focus();
  }
  async function asked(): Promise<void> {
    const consequence = "It takes no report from then on and cannot be opened again. Its answer stays.";
    if (await sure("Close this round?", consequence, "Close it")) close();
  }
  function hush(): void {
    tooFew.hidden = true;
  }

  return {
    host: el("div", { class: "filling" }, el("p", {}, number, " ", words), track, el("p", { class: "closing" }, button), tooFew),
    update(info, around) {
      enough = info.n_reports >= around.minimum;
      if (enough) hush();
      const length = barLength(info.n_reports, around.minimum, around.expected);
      fill(number, counted(info.n_reports, "report"));
      fill(words, fillingWords(info.n_reports, info.waiting, around.minimum, around.expected));
      amount.style.width = `${(100 * info.n_reports) / length}%`;
      minimumTick.style.left = `${(100 * around.minimum) / length}%`;
      expectedTick.hidden = around.expected === null;
      expectedTick.style.left = `${(100 * (around.expected ?? 0)) / length}%`;
      track.setAttribute("aria-valuemin", "0");
      track.setAttribute("aria-valuemax", String(Math.ceil(length)));
      track.setAttribute("aria-valuenow", String(info.n_reports));
      button.hidden = !around.mayAsk;
      button.classList.toggle("plain", !enough);
      fill(button, around.more ? "Close this round and ask the next" : "Close this last round");
    },
  };
}

/** A round that fills: its count against the minimum and against what earlier rounds had, and the button that closes it. */
import type { RoundStatus } from "../../parts/api_types.js";
import { sure } from "../../parts/dialog.js";
import { el, fill } from "../../parts/dom.js";
import { count, counted } from "../../parts/format.js";

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
export interface Filling {
  minimum: number;
  /** How many reports earlier rounds had on average; null before the first is closed. */
  expected: number | null;
  /** Whether this session may close rounds. */
  mayAsk: boolean;
  /** Whether another round can follow. */
  more: boolean;
}

export interface FillingBar {
  host: HTMLElement;
  update(info: RoundStatus, around: Filling): void;
}

export function fillingBar(close: () => void): FillingBar {
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

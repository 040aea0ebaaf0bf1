/** What stands above a conversation: what it is, how many rounds are used, what it costs a person, and the link for people. */
import type { RoundStatus, Status } from "../../parts/api_types.js";
import { ALLOWANCE } from "../../../../js/src/device/ledger.js";
import { el, fill } from "../../parts/dom.js";
import { count, counted, figure } from "../../parts/format.js";

/** Most rounds that are drawn one by one. */
const PIPS = 40;

/** The largest epsilon that a device answers unless its owner says otherwise. */
const DEVICE_CAP = ALLOWANCE.cap;

export interface Head {
  host: HTMLElement;
  update(status: Status, rounds: RoundStatus[]): void;
}

export function head(status: Status, save: () => void): Head {
  const total = status.rounds ?? 0;
  const used = el("p", { class: "used figures" });
  const pips = el("div", { class: total > PIPS ? "pips one" : "pips", "aria-hidden": "true" });
  const state = el("span");
  const link = `${location.origin}/s/${status.id}`;
  const field = el("input", { id: "people-link", readonly: true, value: link, onfocus: () => field.select() });
  const copy = el("button", { type: "button", class: "plain", onclick: () => void copied() }, "Copy");
  const keep = el("button", { type: "button", class: "plain", onclick: save }, "Save as JSON");

  const people = [
    el("label", { for: "people-link" }, "For people"),
    field,
    copy,
    el("a", { class: "button plain", href: `/s/${status.id}` }, "Open"),
  ];

  async function copied(): Promise<void> {
    try {
      await navigator.clipboard.writeText(link);
      fill(copy, "Copied");
    } catch {
      field.focus(); // selects it: the keyboard's own copy works where the clipboard is closed to pages
    }
    setTimeout(() => fill(copy, "Copy"), 2_000);
  }

  return {
    host: el(
      "header",
      { class: "talk-head" },
      el("p", { class: "crumb" }, el("a", { href: "/" }, "All surveys")),
      el("div", { class: "talk-title" }, el("h1", {}, status.title || "Untitled survey"), state),
      used,
      pips,
      el(
        "p",
        { class: "quiet" },
        `Everybody draws one round for life and answers only that one: epsilon ${figure(status.epsilon)} a person, `,
        "once, however the questions follow from each other.",
        status.epsilon > DEVICE_CAP && ` Devices refuse an epsilon above ${DEVICE_CAP} unless their owner allows it.`,
      ),
      el("div", { class: "people-link" }, ...people, keep),
    ),
    update(now, rounds) {
      fill(state, now.state);
      state.className = `pill ${now.state}`;
      for (const part of people) part.hidden = now.state !== "open";
      const open = rounds.find((round) => round.state === "open");
      const left = total - rounds.length;
      fill(
        used,
        `${count(rounds.length)} of ${counted(total, "round")} asked · ${open === undefined ? "" : `round ${open.round} is open · `}` +
          `${count(left)} left · ${counted(now.n_reports, "report")} in all`,
      );
      keep.disabled = rounds.length === 0;
      if (total > PIPS) {
        const amount = el("span", { class: "amount" });
        amount.style.width = `${(100 * rounds.length) / total}%`;
        fill(pips, amount);
        return;
      }
      fill(pips, ...Array.from({ length: total }, (_, i) => el("span", { class: `pip ${rounds[i]?.state ?? "left"}` })));
    },
  };
}

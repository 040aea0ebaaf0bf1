/** What stands above a conversation: what it is, how many rounds are used, what it costs a person, and the link for people. */
import { ALLOWANCE } from "../../../../js/src/device/ledger.js";
import type { RoundStatus, Status } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { count, counted, figure } from "../../parts/format.js";
import { queryText } from "./query.js";

/** Most rounds that are drawn one by one. */
const PIPS = 40;

/** The largest epsilon that a device answers unless its owner says otherwise. */
const DEVICE_CAP = ALLOWANCE.cap;

interface Head {
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

// After the last round: every question with its answer, side by side.

interface SummaryLine {
  info: RoundStatus;
  answer: string;
  interval: string;
}

export function summary(lines: SummaryLine[], save: () => void): HTMLElement {
  const heads = ["round", "question", "answer", "interval", "reports"].map((head) => el("th", { scope: "col" }, head));
  const rows = lines.map(({ info, answer, interval }) =>
    el(
      "tr",
      {},
      el("td", { class: "figures", "data-head": "round" }, info.round),
      el("td", { "data-head": "question" }, queryText(info.query)),
      el("td", { class: "figures", "data-head": "answer" }, answer),
      el("td", { class: "figures", "data-head": "interval" }, interval),
      el("td", { class: "figures", "data-head": "reports" }, count(info.n_reports)),
    ),
  );
  return el(
    "section",
    { class: "summary card", "aria-labelledby": "all-asked" },
    el("h2", { id: "all-asked" }, `All ${count(lines.length)} rounds have been asked`),
    el("p", { class: "quiet" }, "Everybody who answered did so once. To go on, make a survey of more rounds and ask other people."),
    el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)),
    el("p", { class: "quiet" }, "Each interval holds for its own question. For intervals that hold all together, use session.intervals in Python."),
    el("p", { class: "deeds" }, el("button", { type: "button", onclick: save }, "Save the conversation as JSON")),
  );
}

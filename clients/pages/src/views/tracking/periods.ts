/** The periods one by one, the latest first: how full each is, and the way to its own estimate. */
import type { PeriodList } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { count, counted } from "../../parts/format.js";
import { capital } from "../../parts/trouble.js";
import { expected } from "./reading.js";

const LISTED = 26;

export function periodsView(): { element: HTMLElement; update(list: PeriodList): void } {
  const list = el("ol", { class: "period-list", reversed: true });
  const more = el("button", { type: "button", class: "plain small", hidden: true, onclick: () => showMore() });
  const element = el("section", { class: "card periods", "aria-labelledby": "periods", hidden: true }, el("h2", { id: "periods" }, "Periods"), list, more);
  let told: PeriodList | null = null;
  let shown = LISTED;

  function showMore(): void {
    shown += LISTED;
    draw();
  }

  function draw(): void {
    const all = [...(told?.periods ?? [])].reverse();
    const likely = expected(all);
    element.hidden = all.length === 0;
    const lines = all.slice(0, shown).map(({ id, label, state, n_reports: reports }) => {
      const open = state === "open";
      const filled = open && likely !== null ? `${count(reports)} of about ${count(likely)} reports` : counted(reports, "report");
      const bar = open && likely !== null && likely > 0 && el("progress", { max: likely, value: Math.min(reports, likely), "aria-label": filled });
      return el("li", {}, el("a", { href: `/survey/${id}` }, capital(label)), el("span", { class: "quiet figures" }, `${filled}${open ? ", open" : ""}`), bar);
    });
    fill(list, ...lines);
    const left = all.length - shown;
    more.hidden = left <= 0;
    fill(more, `Show ${count(Math.min(left, LISTED))} more`);
  }

  return {
    element,
    update(now) {
      told = now;
      draw();
    },
  };
}

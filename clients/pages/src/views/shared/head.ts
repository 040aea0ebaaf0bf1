/** What stands above an estimate: what the survey is, how it stands, and its count as it grows. */
import type { Status } from "../../parts/api_types.js";
import { kindName } from "../../questions/kinds.js";
import { el, fill } from "../../parts/dom.js";
import { count, counted } from "../../parts/format.js";
import { promisedBoth } from "../../parts/promise.js";

interface HeadView {
  element: HTMLElement;
  update(status: Status): void;
}

export function headView(): HeadView {
  const title = el("h1");
  const facts = el("p", { class: "quiet facts" });
  const state = el("span");
  const number = el("strong", { class: "figures" });
  const unit = el("span", { class: "quiet" });
  const said = el("p", { class: "visually-hidden", "aria-live": "polite" });
  const live = el("p", { class: "live-count" }, number, unit);
  const left = el("div", {}, el("p", { class: "crumb" }, el("a", { href: "/" }, "All surveys")), title, facts);
  const element = el("div", { class: "survey-head" }, left, el("div", { class: "live" }, state, live), said);
  let spoken = 0;
  let shown = -1;

  function update(status: Status): void {
    const { n_reports: reports, waiting } = status;
    document.title = `${status.title || "Survey"} · Sottovoce`;
    fill(title, status.title || "Untitled survey");
    const mechanism = status.mechanism === null ? [] : [status.mechanism.replaceAll("_", " ")];
    fill(facts, [kindName(status.kind), ...mechanism, promisedBoth(status), status.id.slice(0, 12)].join(" · "));
    fill(state, status.state === "open" ? "open" : status.state);
    state.className = `pill ${status.state}`;
    fill(number, count(reports));
    fill(unit, ` ${reports === 1 ? "report" : "reports"}${waiting > 0 ? `, ${count(waiting)} more not yet counted` : ""}`);
    if (shown >= 0 && shown !== reports) {
      number.classList.remove("fresh");
      // Read so that the browser begins the glow anew.
      void number.offsetWidth;
      number.classList.add("fresh");
    }
    shown = reports;
    // Said when it has doubled, not with every report: a count that never stops talking helps nobody.
    if (status.state !== "open") fill(said, `${counted(reports, "report")} in all`);
    else if (reports >= 2 * spoken && reports > 0) {
      spoken = reports;
      fill(said, `${counted(reports, "report")} so far`);
    }
  }
  return { element, update };
}

/** What stands in the estimate's place as long as there are too few reports. */
export function tooFew(status: Status): HTMLElement {
  const { n_reports: reports, minimum_reports: minimum } = status;
  const needed = Math.max(1, minimum);
  const open = status.state === "open";
  return el(
    "section",
    { class: "card too-few", "aria-labelledby": "too-few" },
    el("h2", { id: "too-few" }, open ? "Not enough reports yet" : "Not enough reports"),
    el("p", { class: "figures" }, el("strong", {}, count(reports)), ` of ${counted(needed, "report")}; nothing is shown ${open ? "before" : "below that"}.`),
    el("progress", { max: needed, value: Math.min(reports, needed), "aria-label": "Reports until the first estimate" }),
    el(
      "p",
      { class: "quiet" },
      "A few reports would say hardly anything: each of them is mostly noise, and that is what protects the people. ",
      open ? "The estimate appears here by itself." : "The survey is sealed: there will be no estimate.",
    ),
  );
}

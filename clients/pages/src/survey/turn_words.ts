/** What the page says about turns: when it is this browser's, and what taking part costs, once and over the years. */
import type { Calendar, Period, Receipt, Tracking } from "../../../js/src/index.js";
import { named } from "../parts/format.js";

/** The heading while nothing is to be answered. */
export function turnTitle(state: Receipt["state"], { label }: Period, every: Calendar["every"]): string {
  const unit = typeof every === "number" ? "period" : every;
  switch (state) {
    case "missed":
      return `Your ${unit} has passed; your seat stays empty.`;
    case "declined":
      return "You have refused further turns.";
    default:
      return `Your turn is ${named(label)}. Come back then.`;
  }
}

/** What that means. */
export function turnText(state: Receipt["state"], { label }: Period, calendar: Calendar): string {
  switch (state) {
    case "missed":
      return (
        `It was ${named(label)}. Nothing was drawn, nothing was sent, and nobody else takes your place. The collector ` +
        "sees one report less, and does not see whose."
      );
    case "declined":
      return `Without that it would be ${named(label)}. Nothing is drawn and nothing is sent, unless you allow it again.`;
    default:
      return (
        "This browser has drawn its turn by lot, whatever you would answer: everybody is asked once in " +
        `${calendar.spans(calendar.window)}, each at their own time. No report was drawn, and nothing was sent.`
      );
  }
}

/** Until when a period can be answered. */
export const deadline = ({ closes }: Period): string =>
  `It can be answered until ${DATE.format(new Date(closes - 1))}, in UTC.`;

const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

/** What the survey costs: in a window, in any stretch as long as one, and over its life, in one sentence. */
export const charge = ({ calendar, epsilon, delta }: Pick<Tracking, "calendar" | "epsilon" | "delta">): string =>
  `It costs you ${calendar.promise(epsilon, delta)}.`;

/** Said of every tracking survey. */
export const EACH_IS_CHARGED = "Two surveys that track the same thing are each charged: your ledger adds them up.";

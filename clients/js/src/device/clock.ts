/** The clocks: a device answers a period by its own clock, and only if the collector's agrees within a day. */
import { ClockError } from "../core/errors.js";
import { DAY } from "../surveys/calendar.js";

/** Milliseconds since 1970. */
export type Clock = () => number;

/**
 * Throw `ClockError` unless both clocks agree within a day.
 *
 * A wrong clock would answer about another period than the person means, or find its own period closed for ever.
 */
export function checkClocks(own: number, collector: number): void {
  if (Math.abs(own - collector) <= DAY) return;
  throw new ClockError(
    `this device's clock says ${told(own)}, the collector's ${told(collector)}: set it; nothing was answered`,
  );
}

const told = (moment: number): string => {
  const text = new Date(moment).toJSON() ?? "";
  return text ? `${text.slice(0, -8).replace("T", " ")} UTC` : "a time out of range";
};

/** A person's answer is about the period that the page has asked about, and about no other. */
import type { Period } from "../../../js/src/index.js";

/** Another turn has come since the page has asked. */
export class OtherTurn extends Error {}

/** What a device is given for a person's answer: the value in the period of that number, and none in any other. */
export function onlyIn(number: number | null, value: unknown): (period: Period | null) => unknown {
  return (period) => {
    if (number !== null && period?.number !== number) throw new OtherTurn();
    return value;
  };
}

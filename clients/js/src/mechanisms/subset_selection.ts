/** Subset selection: a random set of values, more often than not with the true one among them. */
import { checkReportBytes, encodeSubset, subsetWidth } from "../codecs.js";
import { checkInteger } from "../limits.js";
import { favouring } from "../thresholds.js";
import { checkValue, type FiniteKind } from "./finite.js";

export const subsetSelection: FiniteKind = {
  parameters: ["subset_size"],
  make(domainSize, epsilon, own) {
    const size = checkInteger("subset_size", own.subset_size, 1, domainSize - 1);
    const reportBytes = checkReportBytes("subset_selection", subsetWidth(domainSize, size));
    const threshold = favouring(BigInt(size), BigInt(domainSize - size), epsilon);
    return {
      name: "subset_selection",
      reportBytes,
      randomize(value, source) {
        checkValue(value, domainSize);
        const contains = source.bernoulli(threshold);
        // A uniform set of the other values (Floyd 1987); if the value belongs, it takes a uniform member's place.
        // Every draw is made either way.
        const members = new Set<number>();
        for (let bound = domainSize - 1 - size; bound < domainSize - 1; bound++) {
          const drawn = source.below(bound + 1);
          members.add(members.has(drawn) ? bound : drawn);
        }
        const replaced = source.below(size);
        const increasing = (a: number, b: number) => a - b;
        const listed = Array.from(members, (other) => other + (other >= value ? 1 : 0)).sort(increasing);
        listed[replaced] = contains ? value : listed[replaced]!;
        return encodeSubset(listed.sort(increasing), domainSize);
      },
    };
  },
};

/**
 * The features of a record that a line is fitted to, and the products of them whose means tell it.
 *
 * A number is one feature, from -1 to 1 between its ends. A list of m values is m - 1: 1 for people with that value, -1
 * for others. All are integers here, times `scale`; products are times its square, up to 2^33, and exact as doubles.
 */
import { SurveyError } from "../core/errors.js";
import { STEPS } from "./number.js";

const MAX_FEATURES = 32;

/** The size that stands for a number. */
export const NUMBER = 0;

/** An attribute of a record. */
interface Related {
  readonly name: string;
  /** How many values it has, or `NUMBER`. */
  readonly size: number;
  /** How people read a value. */
  label(value: number): string;
}

interface Feature {
  readonly place: number;
  /** The value of a list that it is about; 1 for a number. */
  readonly value: number;
}

/** One feature, or the product of two, which may be the same. */
export type FeatureProduct = readonly [first: Feature, second?: Feature];

const isListed = ({ size }: Related): boolean => size !== NUMBER;

export class RecordFeatures {
  /** Every feature alone, then every product of two that does not follow from these. */
  readonly products: readonly FeatureProduct[];

  /** A number's inputs are 0 to `scale`; the one of every survey is the positions between two ends. */
  constructor(
    readonly attributes: readonly Related[],
    readonly scale = STEPS,
  ) {
    const counts = attributes.map(({ size }) => (size === NUMBER ? 1 : size - 1));
    if (counts.length < 2 || counts.reduce((sum, count) => sum + count) > MAX_FEATURES) {
      throw new SurveyError(
        `a relation needs two fields or more, and at most ${MAX_FEATURES} features: a list of m values is m - 1 of them`,
      );
    }
    const listed = counts.flatMap((length, place) => Array.from({ length }, (_, i): Feature => ({ place, value: i + 1 })));
    // The square of an indicator is 1, and two of the same list are never 1 together.
    const pairs = listed.flatMap((first, i) =>
      listed.slice(i).flatMap((second): FeatureProduct[] => {
        const follows = first.place === second.place && isListed(attributes[first.place]!);
        return follows ? [] : [[first, second]];
      }),
    );
    this.products = [...listed.map((feature): FeatureProduct => [feature]), ...pairs];
  }

  /** A feature, a square or a product of two features as an integer lies from 0 to this. */
  get range(): number {
    return 2 * this.scale ** 2;
  }

  /** Whether it is an input for every attribute, in order. */
  isRecord(record: readonly number[]): boolean {
    const inside = this.attributes.map(({ size }, i) => {
      const last = size === NUMBER ? this.scale : size - 1;
      return Number.isInteger(record[i]) && record[i]! >= 0 && record[i]! <= last;
    });
    return record.length === inside.length && !inside.includes(false);
  }

  /** Every product of a record, times scale^2: 1 + f for a feature f, 2 f^2 for a square, 1 + f g for others. */
  valuesOf(record: readonly number[]): number[] {
    const unit = this.scale;
    const held = ({ place, value }: Feature) => {
      const entry = record[place]!;
      if (this.attributes[place]!.size === NUMBER) return 2 * entry - unit;
      return unit * (2 * Number(entry === value) - 1);
    };
    return this.products.map(([first, second]) => {
      if (second === undefined) return (held(first) + unit) * unit;
      return first === second ? 2 * held(first) ** 2 : held(first) * held(second) + unit * unit;
    });
  }
}

/** Products: one product of a record's features, drawn in public, answered by a channel for numbers. */
import { encodeIndex, indexWidth } from "../core/codecs.js";
import { MechanismError, SurveyError, ValueOutsideDomainError } from "../core/errors.js";
import type { Json } from "../core/json.js";
import { checkInteger } from "../core/limits.js";
import { type FeatureProduct, NUMBER, type RecordFeatures } from "../domain/features.js";
import type { Mechanism } from "./base/mechanism.js";
import { decodeIndex, impossible, type Law, probe, type Reported } from "./laws/law.js";
import { ratio } from "./laws/ratios.js";
import { counted } from "./laws/words.js";
import { type MatrixChannel, readOff } from "./matrix_channel.js";
import { reached, runningSums } from "./sampled.js";

const MAX_WEIGHT = 2 ** 20;

/** A mechanism for a record: one integer per attribute, a value's number or a number's position. */
export interface ProductsMechanism extends Mechanism<readonly number[]> {
  readonly features: RecordFeatures;
  readonly channel: MatrixChannel;
  readonly weights: readonly number[];
  /** Integers from one grid point of the channel to the next. */
  readonly steps: number;
}

/** The mechanism with the weights that a survey states, and the channel that was verified for it. */
export function makeProducts(features: RecordFeatures, channel: MatrixChannel, stated: Json | undefined): ProductsMechanism {
  const { products, range } = features;
  const steps = range / (channel.values - 1);
  if (!Number.isInteger(steps)) throw new MechanismError("the channel's grid points do not divide the range of products");
  const weights = Array.isArray(stated) ? stated.map((weight) => checkInteger("weights", weight, 0, MAX_WEIGHT)) : [];
  const drawn = runningSums(weights);
  if (weights.length !== products.length || drawn.at(-1) === 0) {
    throw new SurveyError(`weights must be ${products.length} integers, one for each product of features, and not all 0`);
  }
  const reportBytes = indexWidth(BigInt(products.length * channel.reports));
  return {
    name: "products",
    reportBytes,
    features,
    channel,
    weights,
    steps,
    randomize(record, source) {
      if (!features.isRecord(record)) {
        throw new ValueOutsideDomainError("the record is not one integer within the range of each attribute");
      }
      const product = reached(drawn, source.below(drawn.at(-1)!));
      const rounding = source.below(steps);
      // Every product is computed: which one was drawn is public, what it takes to compute it must not tell more.
      const value = features.valuesOf(record)[product]!;
      const point = Math.floor(value / steps);
      const row = channel.draw(point + Number(rounding < value % steps), source);
      return encodeIndex(product * channel.reports + row, reportBytes);
    },
  };
}

/** Grid points are read off the channel; what lies between two of them has a mixture of their chances. */
export function productsLaw({ mechanism, payload }: Reported): Law {
  const { features, channel, weights, steps } = mechanism as ProductsMechanism;
  const { products, range } = features;
  const cell = Number(decodeIndex(payload, products.length * channel.reports));
  const number = Math.floor(cell / channel.reports);
  const [product, weight] = [products[number]!, weights[number]!];
  if (weight === 0) impossible();
  const one = probe(channel, 0).asked[0] as number;
  const sent = (point: number, draw: number) => probe(channel, point, draw).payload;
  const { says, chanceOf } = readOff(one, sent, encodeIndex(cell % channel.reports, channel.reportBytes));
  const chances = Array.from({ length: channel.values }, (_, point) => BigInt(chanceOf(point)));
  const whole = BigInt(one) * BigInt(steps) * BigInt(runningSums(weights).at(-1)!);
  const at = (value: number) => {
    const [point, beyond] = [Math.floor(value / steps), value % steps];
    const next = chances[Math.min(point + 1, channel.values - 1)]!;
    return ratio(BigInt(weight) * (BigInt(steps - beyond) * chances[point]! + BigInt(beyond) * next), whole);
  };
  // Values of lists give one of the two ends. Of numbers, every grid point is taken to be reached: squares only come near.
  const isListed = product.every((feature) => features.attributes[feature!.place]!.size !== NUMBER);
  const reachable = isListed ? [0, range] : chances.map((_, point) => point * steps);
  const sorted = reachable.sort((a, b) => Number(at(a).n - at(b).n));
  return {
    chance: (record: readonly number[]) => at(features.valuesOf(record)[number]!),
    common: 0,
    groups: [sorted[0]!, sorted.at(-1)!].map((value) => ({ chance: at(value), count: null })),
    says: `Of ${counted(products.length)} figures one was drawn at random, in public: ${nameOf(product, features)}. ${says}`,
    fields: [...new Set(product.map((feature) => feature!.place))],
  };
}

/** How people read a product. */
function nameOf([first, second]: FeatureProduct, { attributes }: RecordFeatures): string {
  if (first === second) return `${attributes[first.place]!.name} squared`;
  return [first, second]
    .filter((feature) => feature !== undefined)
    .map(({ place, value }) => {
      const { name, size, label } = attributes[place]!;
      return size === NUMBER ? name : `“${name} is ${label(value)}”`;
    })
    .join(" times ");
}

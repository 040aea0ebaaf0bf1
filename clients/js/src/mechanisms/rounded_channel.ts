/** A channel matrix over the points of a grid, for numbers between them: rounded at random, then sent by the matrix. */
import { type NumberGrid, STEPS } from "../domain/number.js";
import { SurveyError } from "../core/errors.js";
import { type Law, probe, type Reported } from "./laws/law.js";
import { ratio } from "./laws/ratios.js";
import type { Json } from "../core/json.js";
import type { Terms } from "./base/mechanism.js";
import { checkValue, type FiniteMechanism } from "./base/finite.js";
import { type CheckNumbers, readChannel, readOff, weightsOfValues } from "./matrix_channel.js";
import { parametersOf } from "./base/stated.js";

const NAME = "rounded_channel";

interface RoundedChannel extends FiniteMechanism {
  readonly points: number;
}

/** What a strategy for a number is made of: the channel in its attachment, which is given a position of the grid. */
export async function readRounded(
  attachment: Uint8Array,
  { points, positions }: NumberGrid,
  { epsilon, delta }: Terms,
  stated: Json | undefined,
  checkNumbers: CheckNumbers = weightsOfValues,
) {
  parametersOf(stated, NAME, []);
  if (delta !== 0) throw new SurveyError("this strategy needs delta 0");
  const { digest, mechanism: channel } = await readChannel(attachment, points, epsilon, checkNumbers);
  const mechanism: RoundedChannel = {
    name: NAME,
    points,
    reportBytes: channel.reportBytes,
    randomize(position, source) {
      checkValue(position, positions);
      // Drawn for grid points too: what is asked of the source must not tell them from the others.
      const rounding = source.below(STEPS);
      const point = Math.floor(position / STEPS);
      return channel.randomize(point + Number(rounding < position % STEPS), source);
    },
  };
  return { digest, mechanism, input: (position: number) => position };
}

/** Grid points are read off the randomizer; what lies between two of them has a mixture of their chances. */
export function roundedChannelLaw({ mechanism, payload }: Reported): Law {
  const { points } = mechanism as RoundedChannel;
  const one = probe(mechanism, 0).asked[1] as number;
  const sent = (point: number, draw: number) => probe(mechanism, STEPS * point, 0, draw).payload;
  const { says, chanceOf } = readOff(one, sent, payload);
  const chances = Array.from({ length: points }, (_, point) => BigInt(chanceOf(point)));
  const whole = BigInt(STEPS) * BigInt(one);
  const chance = (position: number) => {
    const [point, beyond] = [Math.floor(position / STEPS), position % STEPS];
    const next = chances[Math.min(point + 1, points - 1)]!;
    return ratio(BigInt(STEPS - beyond) * chances[point]! + BigInt(beyond) * next, whole);
  };
  const sorted = [...chances].sort((a, b) => Number(a - b));
  const groups = [sorted[0]!, sorted.at(-1)!].map((end) => ({ chance: ratio(end, BigInt(one)), count: null }));
  return { chance, common: 0, groups, says };
}

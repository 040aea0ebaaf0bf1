/** Number: the mean of a number between two ends, its spread, or its distribution over equal bins. */
import { Domain } from "../domain/domain.js";
import { NumberGrid } from "../domain/number.js";
import { SurveyError } from "../core/errors.js";
import type { JsonObject } from "../core/json.js";
import { minimax } from "../strategies/minimax.js";
import { optimizedNumber } from "../strategies/optimized.js";
import { STRATEGIES } from "../strategies/registry.js";
import type { Strategies } from "../strategies/strategy.js";
import { prefix } from "../workloads/lines.js";
import type { Question, Values } from "./question.js";

/** The bins of a distribution: each holds its upper end, and the first its lower end too. */
class NumberBins extends Domain {
  readonly size: bigint;

  constructor(readonly grid: NumberGrid) {
    super({});
    this.size = BigInt(grid.points);
  }

  get allowed(): string {
    return this.grid.allowed;
  }

  find(given: unknown): bigint {
    const { low, high, points } = this.grid;
    const value = this.grid.numberOf(given);
    const isNumber = this.grid.has(value);
    const inside = Math.min(Math.max(isNumber ? (value as number) : low, low), high);
    // The same operations on doubles as in Python, the last ones since a bin's end, scaled, may exceed its number.
    const near = Math.ceil(((inside - low) / (high - low)) * points) - 1;
    const bin = near + Number(inside > this.#end(near + 1)) - Number(inside <= this.#end(near));
    return isNumber ? BigInt(Math.min(Math.max(bin, 0), points - 1)) : -1n;
  }

  #end(bin: number): number {
    return this.grid.low + ((this.grid.high - this.grid.low) * bin) / this.grid.points;
  }

  protected labelOf(index: bigint): string {
    const end = (bin: number) => Number(this.#end(bin).toPrecision(6));
    return `${end(Number(index))} to ${end(Number(index) + 1)} ${this.grid.unit}`.trim();
  }
}

const FOR_MOMENTS = new Map<string, Strategies<NumberGrid, number>>([
  ["mean", new Map([["minimax", minimax]])],
  ["spread", new Map([["optimized", optimizedNumber]])],
]);

export class NumberQuestion implements Question {
  readonly kind = "number";
  readonly asks = "number";
  readonly grid: NumberGrid;
  readonly wants: string;
  /** The bins of a distribution; null where the number itself is rounded to a grid. */
  readonly domain: Domain | null;
  readonly strategies: Strategies<any, any>;

  constructor(stated: JsonObject) {
    const { kind: _, wants, ...number } = stated;
    const strategies = wants === "distribution" ? STRATEGIES : FOR_MOMENTS.get(wants as string);
    if (!strategies) throw new SurveyError("wants must be one of mean, distribution, spread");
    this.grid = new NumberGrid(number);
    this.wants = wants as string;
    this.domain = wants === "distribution" ? new NumberBins(this.grid) : null;
    this.strategies = strategies;
  }

  get workload(): unknown {
    return this.domain ? prefix(this.domain, {}) : this.grid;
  }

  get values(): Values {
    return this.grid;
  }

  /** The number of a bin, or a position of the grid; numbers outside the ends are clipped. */
  read(value: unknown): bigint | number {
    return this.domain ? this.domain.index(value) : this.grid.position(value);
  }
}

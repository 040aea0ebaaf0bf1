/** Panels: so many rounds, everybody in one of them, one for life. */
import { type Domain, readDomain } from "../domain/domain.js";
import { checkFields } from "../core/json.js";
import { checkInteger, checkRadius, MAX_ROUNDS } from "../core/limits.js";
import { Stated, type Statement } from "./statement.js";

/** A panel is never answered itself: a device draws its round once, and answers that. */
export class Panel extends Stated {
  readonly kind = "panel";
  /** Probability that the promise leaves out: none in any round. */
  readonly delta = 0;
  readonly relay = null;
  /** What a person's record can be; every round asks about it. */
  readonly domain: Domain;
  readonly rounds: number;
  /** Numbers that a round asks for are clipped to within this of zero. */
  readonly radius: number;

  constructor(statement: Statement) {
    super(statement);
    const { panel } = checkFields(statement.json, "a panel's statement", "format", "title", "epsilon", "panel");
    const { domain, rounds, radius } = checkFields(panel, "a panel", "domain", "rounds", "radius");
    this.domain = readDomain(domain);
    this.rounds = checkInteger("rounds", rounds, 1, MAX_ROUNDS);
    this.radius = checkRadius(radius);
  }
}

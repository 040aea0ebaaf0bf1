/** Surveys of how people are distributed over a domain. */
import { readDomain } from "./domain.js";
import { DomainError } from "./errors.js";
import { checkFields, type Reader } from "./kind.js";
import { checkEpsilon, MAX_DOMAIN_SIZE } from "./limits.js";
import { readMechanism } from "./mechanisms/registry.js";

export const readDistribution: Reader = async (statement) => {
  checkFields(statement, "domain", "mechanism");
  const domain = readDomain(statement.domain);
  if (domain.size > MAX_DOMAIN_SIZE) {
    throw new DomainError(`a distribution can be asked over at most ${MAX_DOMAIN_SIZE} values`);
  }
  const mechanism = readMechanism(statement.mechanism, domain.size, checkEpsilon(statement.epsilon));
  return { mechanism, delta: 0, domain, input: (value) => Number(domain.index(value)) };
};

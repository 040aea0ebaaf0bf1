/**
 * Every error this package throws on purpose.
 *
 *     SottovoceError
 *     ├── SurveyError               a survey cannot be stated like this
 *     │   ├── DomainError           labels, sizes or attributes are wrong
 *     │   ├── MechanismError        unknown or unsuitable mechanism, or one this client does not run
 *     │   ├── QueryError            an expression that cannot be read, or asked of this domain
 *     │   └── WorkloadError         queries that are not well formed, or that this client does not answer
 *     ├── ValueOutsideDomainError   a person's value is not in the survey's domain
 *     ├── ReportError               bytes that are no report of this survey
 *     ├── MismatchError             two things that belong to different surveys
 *     ├── SignatureError            a survey that is not what the device's pinned key signed
 *     ├── TransparencyError         a log of surveys that is missing, or contradicts what was seen of it
 *     ├── BudgetError               a survey that asks for more than the device's owner allows
 *     ├── ClockError                the device's clock and the collector's disagree
 *     ├── LedgerError               the device's own records cannot be read or written
 *     └── ServiceError              the collector cannot be reached, or refuses what it was asked
 *
 * A message says what was wrong, what is allowed and what to do. It never holds a private value.
 */

/** Root of the tree: catch this to catch everything the package throws on purpose. */
export class SottovoceError extends Error {}

/** A survey cannot be stated like this; names the field, the allowed range and the remedy. */
export class SurveyError extends SottovoceError {}

/** The set of possible values is not well formed. */
export class DomainError extends SurveyError {}

/** The mechanism is unknown, cannot serve this domain, or is not one that this client runs. */
export class MechanismError extends SurveyError {}

/** An expression cannot be read, or could go wrong for some record. */
export class QueryError extends SurveyError {}

/** The queries are not well formed, do not fit the domain, or are not ones that this client answers. */
export class WorkloadError extends SurveyError {}

/** A person's value is not in the domain. Says what is allowed, never what was given. */
export class ValueOutsideDomainError extends SottovoceError {}

/** Bytes that no device following this survey could have sent. */
export class ReportError extends SottovoceError {}

/** A report or an attachment of one survey was handed to another. */
export class MismatchError extends SottovoceError {}

/** A survey whose signature, id or key is not what the device trusts; nothing was answered. */
export class SignatureError extends SottovoceError {}

/**
 * A collector's log of surveys is missing, lacks the survey, or contradicts what was seen of it before; nothing was
 * answered. `conflict`: two signed heads of it contradict each other; `evidence` holds both.
 */
export class TransparencyError extends SottovoceError {
  constructor(
    message: string,
    readonly conflict: boolean = false,
    readonly evidence: readonly string[] = [],
  ) {
    super(message);
  }
}

/** A survey asks for a larger epsilon than the device's owner allows, or than the ledger has left. */
export class BudgetError extends SottovoceError {}

/** The device's clock and the collector's disagree, so that nobody can tell which period it is; nothing was answered. */
export class ClockError extends SottovoceError {}

/** The device's records of what it has answered cannot be read or written, so it answers nothing. */
export class LedgerError extends SottovoceError {}

/** The collector cannot be reached, or refuses; `code` says why in one word, `status` is HTTP's number or 0. */
export class ServiceError extends SottovoceError {
  constructor(
    message: string,
    readonly code: string = "unreachable",
    readonly status: number = 0,
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }
}

// A bundler renames classes, so that their names must be said.
const ALL = {
  SottovoceError,
  SurveyError,
  DomainError,
  MechanismError,
  QueryError,
  WorkloadError,
  ValueOutsideDomainError,
  ReportError,
  MismatchError,
  SignatureError,
  TransparencyError,
  BudgetError,
  ClockError,
  LedgerError,
  ServiceError,
};
for (const [name, kind] of Object.entries(ALL)) kind.prototype.name = name;

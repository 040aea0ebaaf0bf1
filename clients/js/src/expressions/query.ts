/** A query: an expression over one person's record. Read from its tree and checked, then evaluated. */
import { canonicalBytes, canonicalText, type Json } from "../core/json.js";
import { type Domain, LabelDomain, RangeDomain } from "../domain/domain.js";
import {
  alike,
  asNumber,
  constant,
  fault,
  gathered,
  greatest,
  integer,
  least,
  type Operation,
  type Part,
  type Record,
  text,
  type Tree,
  truth,
} from "./part.js";
import { type Checker, OPERATIONS } from "./rules.js";
import { readTree } from "./tree.js";

const MAX_QUERY_BYTES = 2 ** 20;

/** What a query gives over a domain; throws `QueryError` unless it is in the grammar, and safe for every record. */
export function readQuery(stated: unknown, domain: Domain): Part {
  const { tree } = readTree(stated);
  if (canonicalBytes(stated as Json).length > MAX_QUERY_BYTES) {
    throw fault(`its JSON may have at most ${MAX_QUERY_BYTES} bytes`);
  }
  return check(tree, domain);
}

/** An answer as a double, whatever its kind. */
export const numberOf = (query: Part, record: Record): number => Number(query.of(record));

/** An integer answer as a position below `size`: what lies outside counts as the nearest one. */
export function positionOf(query: Part, record: Record, size: number): number {
  return Math.min(Math.max(Number(query.of(record)), 0), size - 1);
}

// What an expression gives, known before any value is: kinds, and bounds that hold for every record.
// Bounds come from interval arithmetic with the evaluator's own operations at the corners. Rounding is monotone, so no
// computed value lies outside. Nothing here looks at a private value: a refusal depends on query and domain alone.

/** Most integer labels of the attributes that an expression mentions, each attribute counted once. */
const MAX_LABELS = 2 ** 21;

/** Check a tree against a domain; throws `QueryError` at the first part that could go wrong for some record. */
function check(tree: Tree, domain: Domain): Part {
  const found = new TreeChecker(domain).part(tree);
  if (found.kind === "text") throw fault("it gives a text, where a number or a truth is due; compare it");
  return found;
}

/** One walk over one tree: arguments before their operation. What follows from an attribute alone is made once. */
class TreeChecker implements Checker {
  readonly #values = new Map<string, Part>();
  readonly #statements = new Map<Domain, string>();
  #labels = 0;

  constructor(readonly domain: Domain) {}

  part(tree: Tree): Part {
    if (typeof tree === "boolean") return truth(() => tree);
    if (typeof tree === "string") throw fault("a text can only stand beside ==, != or in a list");
    return typeof tree === "object" ? OPERATIONS.get(tree[0])!.rule(this, tree) : constant(tree);
  }

  numbers(tree: Operation): readonly Part[] {
    return alike(tree.slice(1).map((a) => asNumber(this.part(a as Tree))));
  }

  integer(tree: Tree): Part {
    const found = asNumber(this.part(tree));
    if (found.kind === "real") throw fault("//, % and bit take integers, and here stands a real");
    return found;
  }

  truth(tree: Tree): Part {
    const found = this.part(tree);
    if (found.kind !== "truth") throw fault("and, or, not and if take truths; write a comparison");
    return found;
  }

  named([, name]: Operation): [Domain, Part] {
    const place = this.domain.attributes.findIndex(([known]) => known === name);
    const domain = this.domain.attributes[place]?.[1];
    if (!domain) throw fault(`there is no attribute ${JSON.stringify(name)}`);
    return [domain, integer(0n, domain.size - 1n, (record) => record[place]!)];
  }

  value(tree: Operation): Part {
    const name = tree[1] as string;
    const found = this.#values.get(name) ?? this.#value(...this.named(tree));
    this.#values.set(name, found);
    return found;
  }

  #value(domain: Domain, { of }: Part): Part {
    if (domain instanceof RangeDomain) {
      const { start, step, last } = domain;
      return integer(least(start, last), greatest(start, last), (record) => start + step * of(record));
    }
    if (!(domain instanceof LabelDomain) || typeof domain.names[0] === "string") return text(of, domain);
    this.#labels += domain.names.length;
    if (this.#labels > MAX_LABELS) throw fault(`its attributes may have at most ${MAX_LABELS} integer labels in all`);
    return gathered(domain.names.map(BigInt), (record) => Number(of(record)));
  }

  position(domain: Domain, constantText: string): bigint {
    const found = domain.find(constantText);
    if (found < 0n) throw fault(`the text ${JSON.stringify(constantText)} is not in the attribute's domain`);
    return found;
  }

  // Each domain is written out once, as its labels may be many.
  same(a: Domain, b: Domain): boolean {
    return a === b || this.#statement(a) === this.#statement(b);
  }

  #statement(domain: Domain): string {
    const found = this.#statements.get(domain) ?? canonicalText(domain.statement);
    this.#statements.set(domain, found);
    return found;
  }

  number(record: Record): bigint {
    return this.domain.attributes.reduce((number, [, { size }], i) => number * size + record[i]!, 0n);
  }
}

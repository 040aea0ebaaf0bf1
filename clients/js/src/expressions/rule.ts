/** What a rule of the grammar is, and what it can ask while a tree is checked. */
import type { Domain } from "../domain/domain.js";
import type { Operation, Tree } from "./grammar.js";
import type { Part, Record } from "./part.js";

/** What one operation demands of its arguments and gives. */
export type Rule = (checker: Checker, tree: Operation) => Part;

/** One walk over one tree, as the rules see it. */
export interface Checker {
  readonly domain: Domain;
  part(tree: Tree): Part;
  /** All arguments of an operation, as numbers of one kind. */
  numbers(tree: Operation): readonly Part[];
  integer(tree: Tree): Part;
  truth(tree: Tree): Part;
  /** The domain of an attribute, and its position there. */
  named(tree: Operation): [Domain, Part];
  /** An attribute's value: a number, or the position of a text. */
  value(tree: Operation): Part;
  /** The number of a constant text; refused where the domain does not hold it. */
  position(domain: Domain, constantText: string): bigint;
  /** Whether two attributes have one domain. */
  same(a: Domain, b: Domain): boolean;
  /** The record's number. */
  number(record: Record): bigint;
}

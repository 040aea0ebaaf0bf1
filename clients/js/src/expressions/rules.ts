/**
 * What each operation of the grammar demands of its arguments and gives, one rule an operation.
 *
 * A rule looks at kinds, bounds and domains only; what it returns computes the same steps for every record.
 */
import { type Domain, RangeDomain, TextDomain } from "../domain/domain.js";
import { floorDivide } from "../randomness/thresholds.js";
import {
  alike,
  alikeConstants,
  asNumber,
  asReal,
  bounded,
  computed,
  constant,
  fault,
  gathered,
  greatest,
  integer,
  least,
  type Operation,
  type Part,
  pick,
  placeOf,
  type Record,
  type Scalar,
  text,
  type Tree,
  truth,
} from "./part.js";

// What a rule of the grammar is, and what it can ask while a tree is checked.

/** What one operation demands of its arguments and gives. */
type Rule = (checker: Checker, tree: Operation) => Part;

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

type Binary = { readonly [op: string]: (x: any, y: any) => any };

const ARITHMETIC: Binary = {
  "+": (x, y) => x + y,
  "-": (x, y) => x - y,
  "*": (x, y) => x * y,
  "/": (x, y) => x / y,
};

const arithmetic: Rule = (checker, tree) => {
  const division = tree[0] === "/";
  const [a, b] = checker.numbers(tree).map((part) => (division ? asReal(part) : part)) as [Part, Part];
  if (division && b.low <= 0 && b.high >= 0) throw fault("a divisor may be 0; keep it away from 0 with max or clip");
  const apply = ARITHMETIC[tree[0]]!;
  const corners = [a.low, a.high].flatMap((x) => [apply(x, b.low), apply(x, b.high)]);
  return bounded(a.kind, corners, computed(apply, a, b));
};

const steps: Rule = (checker, [op, of, k]) => {
  const a = checker.integer(of as Tree);
  const whole = (x: any): bigint => floorDivide(x, k as bigint);
  if (op === "//") return bounded("integer", [whole(a.low), whole(a.high)], computed(whole, a));
  return integer(0n, (k as bigint) - 1n, computed((x) => x - (k as bigint) * whole(x), a));
};

const sign: Rule = (checker, tree) => {
  const [a] = checker.numbers(tree) as [Part];
  if (tree[0] === "neg") return bounded(a.kind, [-a.low, -a.high], computed((x) => -x, a));
  const zero = a.kind === "integer" ? 0n : 0;
  // A bigint's size is the greater of itself and its negative; Math.abs also clears the sign of a zero.
  const size = (x: any) => (typeof x === "bigint" ? greatest(x, -x) : Math.abs(x));
  const corners = [size(a.low), size(a.high), ...(a.low <= zero && a.high >= zero ? [zero] : [])];
  return bounded(a.kind, corners, computed(size, a));
};

const extreme: Rule = (checker, tree) => {
  const parts = checker.numbers(tree);
  const best = tree[0] === "min" ? least : greatest;
  const [low, high] = [best(...parts.map((a) => a.low)), best(...parts.map((a) => a.high))];
  return { kind: parts[0]!.kind, low, high, of: computed(best, ...parts) };
};

const clip: Rule = (checker, tree) => {
  const [a, from, to] = checker.numbers(tree) as [Part, Part, Part];
  if (from.high > to.low) throw fault("clip takes the lower end first, and it may never lie above the upper one");
  const cut = (x: Scalar, low: Scalar, high: Scalar) => least(greatest(x, low), high);
  const [low, high] = [cut(a.low, from.low, to.low), cut(a.high, from.high, to.high)];
  return { kind: a.kind, low, high, of: computed(cut, a, from, to) };
};

const COMPARED: Binary = {
  "<": (x, y) => x < y,
  "<=": (x, y) => x <= y,
  ">": (x, y) => x > y,
  ">=": (x, y) => x >= y,
  "==": (x, y) => x === y,
  "!=": (x, y) => x !== y,
};

const comparison: Rule = (checker, [op, ...sides]) => {
  // A constant text waits for the domain of the other side.
  const parts = sides.map((side) => (typeof side === "string" ? null : checker.part(side as Tree)));
  const domains = parts.flatMap((part) => part?.domain ?? []);
  const texts = parts.filter((part) => !part || part.domain).length;
  if (texts === 0) return truth(computed(COMPARED[op]!, ...alike(parts.map((part) => asNumber(part!)))));
  if (texts < 2 || domains.length === 0 || !checker.same(domains[0]!, domains.at(-1)!) || !/^[!=]=$/.test(op)) {
    throw fault("a text is compared by == or !=, with a constant or an attribute of the same domain");
  }
  const positions = parts.map((part, i) => part ?? constant(checker.position(domains[0]!, sides[i] as string)));
  return truth(computed(COMPARED[op]!, ...positions));
};

const logic: Rule = (checker, [op, ...given]) => {
  const parts = given.map((a) => checker.truth(a as Tree));
  const needed = op === "and" ? parts.length : 1;
  const enough = (...truths: boolean[]) => truths.reduce((sum, found) => sum + Number(found), 0) >= needed;
  return truth(computed((...truths) => enough(...truths) !== (op === "not"), ...parts));
};

const choice: Rule = (checker, [, condition, ...given]) => {
  let sides: readonly Part[] = given.map((side) => checker.part(side as Tree));
  if (sides.some((side) => side.kind !== "truth")) sides = alike(sides.map(asNumber));
  const [a, b] = sides as [Part, Part];
  const of = computed(pick, checker.truth(condition as Tree), a, b);
  return { kind: a.kind, low: least(a.low, b.low), high: greatest(a.high, b.high), of };
};

const membership: Rule = (checker, [op, of, members]) => {
  let a = checker.part(of as Tree);
  let listed = members as readonly Scalar[];
  const { domain } = a;
  if ((domain === undefined) === (typeof listed[0] === "string")) throw fault("texts are looked for among texts only");
  if (domain) listed = (members as readonly string[]).map((member) => checker.position(domain, member));
  else {
    a = asNumber(a);
    listed = alikeConstants(listed);
    if (typeof listed[0] === "number" || a.kind === "real") [a, listed] = [asReal(a), listed.map(Number)];
  }
  const place = (value: Scalar) => placeOf(listed, value);
  if (op === "in") return truth(computed((value) => place(value) < listed.length, a));
  if (new Set(listed).size < listed.length) throw fault("find takes distinct constants, and two are equal");
  return integer(0n, BigInt(listed.length), computed((value) => BigInt(place(value)), a));
};

const bit: Rule = (checker, [, of, given]) => {
  const a = checker.integer(of as Tree);
  const place = given as bigint;
  if (a.low < 0n || place > 62n) throw fault("bit takes integers from 0, and places from 0 to 62");
  return truth(computed((x) => ((x >> place) & 1n) === 1n, a));
};

/** How far a text stands behind its own first `length` characters in the numbering. */
function behind(domain: TextDomain, number: bigint, length: number): bigint {
  let rest = number;
  for (let i = 0; i < length; i++) {
    const within = domain.textsWithin[domain.maxLength - i - 1]!;
    rest = pick(rest > 0n, (rest - 1n) % within, 0n);
  }
  return rest;
}

const prefix: Rule = (checker, [, attribute, k]) => {
  const [domain, column] = checker.named(attribute as Operation);
  const length = Number(k);
  if (domain instanceof TextDomain && length <= domain.maxLength) {
    return text(computed((number) => number - behind(domain, number, length), column), domain);
  }
  const width = (domain.size - 1n).toString(2).length;
  if (!(domain instanceof RangeDomain) || length > width) {
    throw fault("prefix takes a range or a text, and no more than its bits or its letters");
  }
  const shift = BigInt(width - length);
  return integer(0n, (domain.size - 1n) >> shift, computed((position) => position >> shift, column));
};

const letter: Rule = (checker, [, attribute, k]) => {
  const [domain, column] = checker.named(attribute as Operation);
  const place = Number(k);
  if (!(domain instanceof TextDomain) || place >= domain.maxLength) {
    throw fault("letter takes a text over an alphabet, and a place below its largest length");
  }
  const within = domain.textsWithin[domain.maxLength - place - 1]!;
  // At the end of a text nothing is left, and the floor of -1 / N is -1.
  const of = computed((number) => 1n + floorDivide(behind(domain, number, place) - 1n, within), column);
  return integer(0n, BigInt(domain.letters.length), of);
};

const table: Rule = (checker, [, numbers]) => {
  const listed = alikeConstants(numbers as readonly Scalar[]);
  if (BigInt(listed.length) !== checker.domain.size) throw fault(`a table needs ${checker.domain.size} numbers`);
  return gathered(listed, (record) => Number(checker.number(record)));
};

const sparse: Rule = (checker, [, indices, numbers]) => {
  const places = indices as readonly bigint[];
  if (places.at(-1)! >= checker.domain.size) throw fault(`indices must be below the ${checker.domain.size} values`);
  // An index that is not listed is found at the end, where the 0 stands.
  const listed = alikeConstants([...(numbers as readonly Scalar[]), 0n]);
  return gathered(listed, (record) => placeOf(places, checker.number(record)));
};

/**
 * Every operation by its name: its rule, and what its arguments are: a tree, a step (an integer from 1), a place (0 to
 * 63), an attribute itself, or a list of numbers, of alternatives (numbers or texts) or of indices; "more" allows any
 * number of further trees.
 */
export const OPERATIONS = new Map<string, { readonly slots: readonly string[]; readonly rule: Rule }>();
for (const [names, slots, rule] of [
  ["attribute", "name", (checker, tree) => checker.value(tree)],
  ["+ - * /", "tree tree", arithmetic],
  ["< <= > >= == !=", "tree tree", comparison],
  ["// %", "tree step", steps],
  ["neg abs", "tree", sign],
  ["not", "tree", logic],
  ["and or", "tree tree more", logic],
  ["min max", "tree tree more", extreme],
  ["clip", "tree tree tree", clip],
  ["if", "tree tree tree", choice],
  ["in find", "tree alternatives", membership],
  ["bit", "tree place", bit],
  ["prefix", "attribute place", prefix],
  ["letter", "attribute place", letter],
  ["table", "numbers", table],
  ["sparse", "indices numbers", sparse],
] as readonly [string, string, Rule][]) {
  for (const name of names.split(" ")) OPERATIONS.set(name, { slots: slots.split(" "), rule });
}

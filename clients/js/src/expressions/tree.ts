/**
 * Expressions as JSON trees: read strictly, brought to the one form in which equal expressions are equal.
 *
 * Sizes are checked while reading, so that a hostile tree costs no more than the largest allowed one. Errors do not say
 * where in the tree: the analyst's library does, when a query is written; a device only refuses.
 */
import { isText } from "../core/json.js";
import { fault, LARGEST, SMALLEST, type Tree } from "./part.js";
import { OPERATIONS } from "./rules.js";

/** A tree, and how large it is. */
interface ParsedTree {
  readonly tree: Tree;
  readonly nodes: number;
  readonly depth: number;
}

const MAX_NODES = 1024;
const MAX_DEPTH = 32;
const MAX_CONSTANTS = 2 ** 16;

/** A tree from outside; throws `QueryError` unless every shape, type and size is as the grammar says. */
export function readTree(raw: unknown): ParsedTree {
  const reader = new TreeReader();
  const tree = reader.tree(raw, 0);
  return { tree, nodes: reader.nodes, depth: reader.depth };
}

/** One walk over one tree, counting as it goes. */
class TreeReader {
  nodes = 0;
  depth = 0;
  #constants = 0;

  tree(raw: unknown, above: number): Tree {
    this.nodes += 1;
    this.depth = Math.max(this.depth, above + 1);
    if (this.nodes > MAX_NODES || above >= MAX_DEPTH) {
      throw fault(`it may have at most ${MAX_NODES} parts, on at most ${MAX_DEPTH} levels`);
    }
    if (Array.isArray(raw) && raw[0] !== "integer") return this.#operation(raw, above);
    return typeof raw === "boolean" ? raw : typeof raw === "string" ? text(raw) : number(raw);
  }

  #operation([name, ...given]: readonly unknown[], above: number): Tree {
    const shape = OPERATIONS.get(name as string)?.slots;
    if (!shape) throw fault(`an array must begin with one of integer, ${[...OPERATIONS.keys()].join(", ")}`);
    const more = shape[2] === "more";
    if (more ? given.length < 2 : given.length !== shape.length) {
      throw fault(`${name} takes ${more ? "2 or more" : shape.length} arguments, not ${given.length}`);
    }
    const parts = given.map((raw, i) => this.#argument(more ? "tree" : shape[i]!, raw, above + 1));
    if (name === "sparse" && (parts[0] as Tree[]).length !== (parts[1] as Tree[]).length) {
      throw fault("sparse needs as many numbers as indices");
    }
    return [name as string, ...parts];
  }

  #argument(slot: string, raw: unknown, above: number): Tree | readonly Tree[] {
    if (slot === "name") {
      if (typeof raw !== "string" || raw === "") throw fault("an attribute must be given by its name");
      return text(raw);
    }
    if (slot === "numbers") return this.#members(raw).map(number);
    if (slot === "alternatives") {
      const members = this.#members(raw);
      return members.every((member) => typeof member === "string") ? members.map(text) : members.map(number);
    }
    if (slot === "indices") {
      const indices = this.#members(raw).map(number);
      if (indices.every((index, i) => typeof index === "bigint" && index > (indices[i - 1] ?? -1n))) return indices;
      throw fault("the indices of sparse must be integers from 0 that increase");
    }
    const tree = this.tree(raw, above);
    const whole = typeof tree === "bigint" ? tree : -1n;
    const good =
      slot === "step" ? whole > 0n
      : slot === "place" ? whole >= 0n && whole < 64n
      : slot === "tree" || (Array.isArray(tree) && tree[0] === slot);
    if (!good) throw fault("// and % take integers from 1, places are 0 to 63, prefix and letter take an attribute");
    return tree;
  }

  #members(raw: unknown): readonly unknown[] {
    this.#constants += Array.isArray(raw) ? raw.length : 0;
    if (!Array.isArray(raw) || raw.length === 0 || this.#constants > MAX_CONSTANTS) {
      throw fault(`its lists must have 1 to ${MAX_CONSTANTS} members, all together`);
    }
    return raw;
  }
}

/**
 * A JSON number by its value: 1 and 1.0 are the same integer; a whole number beyond 2^53 - 1 is a real. An integer
 * of 64 bits beyond 2^53 - 1 is written ["integer", "digits"].
 */
function number(raw: unknown): bigint | number {
  if (typeof raw === "number" && Number.isFinite(raw)) return Number.isSafeInteger(raw) ? BigInt(raw) : raw;
  const [name, digits, ...more] = Array.isArray(raw) ? raw : [];
  if (name === "integer" && typeof digits === "string" && more.length === 0 && /^-?[1-9][0-9]{15,18}$/.test(digits)) {
    const found = BigInt(digits);
    if (!Number.isSafeInteger(Number(found)) && found >= SMALLEST && found <= LARGEST) return found;
  }
  throw fault('a finite number is due, or ["integer", "digits"] for one of 64 bits beyond 2^53 - 1');
}

function text(raw: unknown): string {
  if (!isText(raw as string)) throw fault("a text holds a lone surrogate");
  return raw as string;
}

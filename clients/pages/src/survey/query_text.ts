/** The question of a round, which travels as a tree, as text that people can read. */

const INFIX = new Set(["+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "==", "!=", "and", "or"]);
const SIGNS: Readonly<Record<string, string>> = { "==": "=", "!=": "≠", "<=": "≤", ">=": "≥", "*": "×", "-": "−" };
const MOST_LISTED = 8;

/** An expression's tree as text. The tree was checked when its round was read. */
export function queryText(tree: unknown, outermost = true): string {
  if (!Array.isArray(tree)) return typeof tree === "string" ? `“${tree}”` : String(tree).replace("-", "−");
  const [name, ...parts] = tree as [string, ...unknown[]];
  const inner = (part: unknown) => queryText(part, false);
  const whole = (text: string) => (outermost ? text : `(${text})`);
  if (name === "attribute" || name === "integer") return String(parts[0]);
  if (INFIX.has(name)) return whole(parts.map(inner).join(` ${SIGNS[name] ?? name} `));
  if (name === "neg") return `−${inner(parts[0])}`;
  if (name === "not") return whole(`not ${inner(parts[0])}`);
  if (name === "if") return whole(`if ${inner(parts[0])} then ${inner(parts[1])} else ${inner(parts[2])}`);
  if (name === "in") return whole(`${inner(parts[0])} is one of ${listed(parts[1])}`);
  if (name === "find") return whole(`which of ${listed(parts[1])} ${inner(parts[0])} is`);
  if (name === "table" || name === "sparse") return "a table with a number for every record";
  return `${name}(${parts.map((part) => queryText(part)).join(", ")})`;
}

function listed(part: unknown): string {
  const members = part as readonly unknown[];
  const shown = members.slice(0, MOST_LISTED).map((member) => queryText(member, false));
  return shown.join(", ") + (members.length > MOST_LISTED ? `, … (${members.length} in all)` : "");
}

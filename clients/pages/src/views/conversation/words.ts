/** What a survey's domain offers to a query: its attributes, their values, and the text that names them. */
import { counted } from "../../parts/format.js";
import { wanted } from "./query.js";

/** An attribute of the people who are asked. */
export interface PanelAttribute {
  name: string;
  /** The values, where they are listed. */
  labels: (string | number)[] | null;
  /** First value, step and number of values of a range. */
  range: { start: number; step: number; size: number } | null;
  /** What it holds, in words. */
  about: string;
}

type StatedDomain = Record<string, any>;

const KEYWORDS = new Set(
  ("False None True and as assert async await break class continue def del elif else except finally for from global if " +
    "import in is lambda nonlocal not or pass raise return try while with yield").split(" "),
);

/** The attributes of a domain's statement; one without attributes has the single one `value`. */
export function attributesOf(domain: StatedDomain): PanelAttribute[] {
  const listed = Array.isArray(domain["attributes"]) ? domain["attributes"] : [{ name: "value", domain }];
  return listed.map((one: StatedDomain) => attribute(String(one["name"]), one["domain"] as StatedDomain));
}

function attribute(name: string, domain: StatedDomain): PanelAttribute {
  if (Array.isArray(domain["labels"])) {
    return { name, labels: domain["labels"], range: null, about: counted(domain["labels"].length, "value") };
  }
  if ("start" in domain) {
    const [start, step, size] = [domain["start"], domain["step"], domain["size"]].map(Number) as [number, number, number];
    const end = start + step * (size - 1);
    const by = Math.abs(step) === 1 ? "" : ` in steps of ${Math.abs(step)}`;
    const about = `${Math.min(start, end)} to ${Math.max(start, end)}${by}`;
    return { name, labels: null, range: { start, step, size }, about };
  }
  return { name, labels: null, range: null, about: `up to ${domain["length"]} characters` };
}

/** An attribute as a query names it. */
export function named(name: string): string {
  const plain = /^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(name) && !KEYWORDS.has(name) && name.normalize("NFKC") === name;
  return plain ? name : `attribute(${literal(name)})`;
}

const ESCAPES: Record<string, string> = { "\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A value as a query writes it. */
export function literal(value: string | number): string {
  if (typeof value === "number") return String(value);
  const code = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const odd = /[\\'\u0000-\u001f\u007f-\u009f\u2028\u2029]/gu;
  return `'${value.replace(odd, (found) => ESCAPES[found] ?? code(found))}'`;
}

/** What a chip puts behind the text that stands before the cursor: the attribute, or it with a value. */
export function insertion(before: string, attribute: PanelAttribute, value?: string | number): string {
  const { wants, name } = wanted(before);
  const space = before === "" || /[\s([{]$/u.test(before) ? "" : " ";
  const own = named(attribute.name);
  if (value === undefined) return wants === "joint" ? `${space}and ${own}` : `${space}${own}`;
  if (wants === "value") return `${space}${literal(value)}`;
  if (name === own) return `${space}== ${literal(value)}`;
  return `${space}${wants === "joint" ? "and " : ""}${own} == ${literal(value)}`;
}

/** Conditions to begin with, made of the survey's own attributes. */
export function examples(attributes: PanelAttribute[], radius: number): string[] {
  const listed = attributes.find((one) => one.labels !== null && one.labels.length > 1);
  const ranged = attributes.find((one) => one.range !== null && one.range.size > 3);
  const found: string[] = [];
  const below = ranged && `${named(ranged.name)} < ${middle(ranged)}`;
  const within = listed && `${named(listed.name)} == ${literal(listed.labels![0]!)}`;
  if (below) found.push(below);
  if (within) found.push(within);
  if (below && within) found.push(`${below} and ${within}`);
  if (listed && listed.labels!.length > 2) {
    found.push(`${named(listed.name)} in (${listed.labels!.slice(0, 2).map(literal).join(", ")})`);
  }
  if (ranged) {
    const { start, step, size } = ranged.range!;
    const half = Math.max(1, Math.round((Math.abs(step) * (size - 1)) / 2));
    const [centre, shift] = [middle(ranged), radius === 1 ? "" : `${radius} * `];
    if (Number.isSafeInteger(start)) found.push(`clip(${shift}(${named(ranged.name)} - ${centre}) / ${half}, -${radius}, ${radius})`);
  }
  return found;
}

/** Most choices that a chip writes out by itself. */
const MOST_LISTED = 24;

/** How people are spread over one attribute, as a choice: the query and what its numbers are called. */
export function spread(attribute: PanelAttribute): { query: string; labels: string[] } | null {
  const own = named(attribute.name);
  const { labels, range } = attribute;
  if (labels !== null) {
    if (labels.length > MOST_LISTED) return null;
    return { query: `find(${own}, (${labels.map(literal).join(", ")}))`, labels: labels.map(String) };
  }
  if (range === null || range.size < 2 || !Number.isSafeInteger(range.start + range.step * range.size)) return null;
  const step = Math.abs(range.step);
  const first = Math.min(range.start, range.start + range.step * (range.size - 1));
  const last = first + step * (range.size - 1);
  const tenth = (last - first + 1) / 10;
  const width = [1, 2, 5, 10, 20, 25, 50, 100].find((one) => one >= tenth) ?? 10 ** Math.ceil(Math.log10(tenth));
  const bins = Math.floor((last - first) / width) + 1;
  const shift = first === 0 ? own : first < 0 ? `(${own} + ${-first})` : `(${own} - ${first})`;
  const name = (from: number, to: number): string => (from === to ? `${from}` : from < 0 ? `${from} to ${to}` : `${from}–${to}`);
  return {
    query: width === 1 ? shift : `${shift} // ${width}`,
    labels: Array.from({ length: bins }, (_, i) => name(first + i * width, Math.min(last, first + (i + 1) * width - 1))),
  };
}

function middle({ range }: PanelAttribute): number {
  return Math.round(range!.start + (range!.step * range!.size) / 2);
}

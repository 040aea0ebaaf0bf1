/** A known population as it is typed, pasted or read from a file: shares by variable and value. */
import { numberFrom, type Read } from "../../questions/answers.js";

export type Population = Record<string, Record<string, number>>;

/** Columns of a population's file, as `sottovoce estimate --weights` reads them. */
const COLUMNS = ["variable", "value", "share"];

/** The population of a file; or what is wrong with it, and in which line. */
export function readPopulation(text: string): Read<Population> {
  const rows = text.split(/\r?\n/u).map(cells).filter((row) => row.some((cell) => cell !== ""));
  const [head = []] = rows;
  const order = COLUMNS.map((name) => head.findIndex((cell) => cell.toLowerCase() === name));
  if (order.includes(-1)) return { wrong: `The first line must name the columns: ${COLUMNS.join(",")}.` };
  const found = new Map<string, Map<string, number>>();
  for (const [at, row] of rows.slice(1).entries()) {
    const [variable = "", value = "", written = ""] = order.map((place) => row[place] ?? "");
    const share = numberFrom(written);
    if (variable === "" || value === "" || share === null || share < 0 || share > 1) return { wrong: `Row ${at + 1} after the first: give a variable, a value and its share, a number from 0 to 1.` };
    const values = found.get(variable) ?? new Map<string, number>();
    if (values.has(value)) return { wrong: `${variable} ${value} is there twice.` };
    found.set(variable, values.set(value, share));
  }
  if (found.size === 0) return { wrong: "There is no row after the first." };
  return { found: Object.fromEntries([...found].map(([variable, values]) => [variable, Object.fromEntries(values)])) };
}

/** The cells of a line; commas and quotes inside quotes belong to a cell. */
function cells(line: string): string[] {
  const found = [...line.matchAll(/(?:^|,)(?:\s*"((?:[^"]|"")*)"\s*|([^,]*))/gu)];
  return found.map(([, quoted, plain = ""]) => (quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"')));
}

/** Per cent that were typed for the values of variables; empty where nothing was. */
export type TypedShares = Record<string, Record<string, string>>;

/** The population that was typed: of the variables for which anything was. Or what is wrong, and with which variable. */
export function typedPopulation(typed: TypedShares): Read<Population> {
  const found: Population = {};
  for (const [variable, shares] of Object.entries(typed)) {
    if (Object.values(shares).every((text) => text.trim() === "")) continue;
    const values: Record<string, number> = {};
    for (const [value, text] of Object.entries(shares)) {
      const per = numberFrom(text);
      if (per === null || per < 0 || per > 100) return { wrong: `${variable} ${value}: give its share of the population in per cent, 0 to 100.` };
      values[value] = Number((per / 100).toPrecision(12));
    }
    found[variable] = values;
  }
  return Object.keys(found).length === 0 ? { wrong: "Give the share of every value of a variable, in per cent." } : { found };
}

/** The per cent of one variable together; null where a field is no number yet. */
export function totalOf(shares: Record<string, string>): number | null {
  const each = Object.values(shares).map((text) => (text.trim() === "" ? 0 : numberFrom(text)));
  return each.includes(null) ? null : each.reduce<number>((sum, one) => sum + (one ?? 0), 0);
}

/**
 * Public groups of a survey: what leaves a device in the open, beside the report and never randomized.
 *
 * Variables and values are part of the signed statement, so that a person sees before answering what is sent.
 */
import { SurveyError } from "../core/errors.js";
import type { Json } from "../core/json.js";

/** Most groups of a survey, all variables crossed: with one for every person a group would say who answered. */
const MAX_GROUPS = 100;
/** Most characters of a variable's name and of a value. */
const MAX_NAME = 60;

/** One group: its number, from 1, and its value of every variable. */
export interface PublicGroup {
  readonly number: number;
  readonly values: Readonly<Record<string, string>>;
  /** "arm B, platform phone". */
  readonly label: string;
}

/** The public variables of a survey and their values; every combination is a group, the last variable changing fastest. */
export class Groups {
  readonly all: readonly PublicGroup[];

  private constructor(readonly variables: ReadonlyArray<readonly [string, readonly string[]]>) {
    const cells = variables.reduce<Array<Array<[string, string]>>>(
      (before, [name, values]) => before.flatMap((cell) => values.map((value) => [...cell, [name, value] as [string, string]])),
      [[]],
    );
    this.all = cells.map((cell, at) => ({
      number: at + 1,
      values: Object.fromEntries(cell),
      label: cell.map(([name, value]) => `${name} ${value}`).join(", "),
    }));
  }

  /** The groups in a survey's JSON; null where there are none. */
  static read(stated: Json | undefined): Groups | null {
    if (stated === undefined) return null;
    const isPair = (entry: Json): entry is [Json, Json[]] =>
      Array.isArray(entry) && entry.length === 2 && Array.isArray(entry[1]);
    if (!Array.isArray(stated) || !stated.every(isPair) || stated.length === 0) {
      throw new SurveyError("groups must be a list of names, each with the list of its values");
    }
    const names = checkNames(stated.map(([name]) => name));
    const variables = stated.map(([, values], at) => [names[at]!, checkNames(values)] as const);
    const few = variables.find(([, values]) => values.length < 2);
    if (few) throw new SurveyError("every variable of groups must have two or more values");
    const number = variables.reduce((product, [, values]) => product * values.length, 1);
    if (number > MAX_GROUPS) {
      throw new SurveyError(`a survey has at most ${MAX_GROUPS} groups, since a small group says who its people are`);
    }
    return new Groups(variables);
  }

  /** The group of that number, as a statement gives it. */
  numbered(number: Json | undefined): PublicGroup {
    const found = typeof number === "number" ? this.all[number - 1] : undefined;
    if (!found) throw new SurveyError(`group must be an integer from 1 to ${this.all.length}`);
    return found;
  }

  /** The group that is meant: by its values, by its one value, or by its label. */
  find(given: unknown): PublicGroup {
    const same = (group: PublicGroup): boolean =>
      typeof given === "object" &&
      given !== null &&
      Object.keys(given).length === this.variables.length &&
      Object.entries(group.values).every(([name, value]) => (given as Record<string, unknown>)[name] === value);
    const only = this.variables.length === 1 ? this.all.filter((group) => Object.values(group.values)[0] === given) : [];
    // Values before labels: a value may be spelt like the label of another group.
    for (const found of [this.all.filter(same), only, this.all.filter((group) => group.label === given)]) {
      if (found.length === 1) return found[0]!;
    }
    const labels = this.all.map((group) => group.label);
    const shown = labels.slice(0, 8).join(", ") + (labels.length > 8 ? `, and ${labels.length - 8} more` : "");
    const isGiven = given !== undefined && given !== null;
    throw new SurveyError(
      `${isGiven ? "there is no such group" : "no group is given; this survey has groups"}: give one of ${shown}`,
    );
  }
}

/** Names that are printable, short and different from each other. */
function checkNames(names: readonly Json[]): readonly string[] {
  const isName = (name: Json): name is string =>
    typeof name === "string" &&
    name.length > 0 &&
    [...name].length <= MAX_NAME &&
    /^[^\p{C}\p{Z}](?:(?:[^\p{C}\p{Z}]| )*[^\p{C}\p{Z}])?$/u.test(name);
  if (!names.every(isName) || new Set(names).size < names.length) {
    throw new SurveyError(
      `names and values of groups must be different printable texts of 1 to ${MAX_NAME} characters, without spaces ` +
        "around them",
    );
  }
  return names;
}

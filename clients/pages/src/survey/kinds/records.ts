/** A form of several fields; a report is about some of them. */
import { type Domain, LabelDomain, RangeDomain, type TextDomain } from "../../../../js/src/domain/domain.js";
import { NumberGrid } from "../../../../js/src/domain/number.js";
import type { FormQuestion, NamedField, RecordField } from "../../../../js/src/questions/form.js";
import { count } from "../../parts/format.js";
import { choices, selectField } from "../fields/choices.js";
import { rangeField, textField, wholeOrMissing } from "../fields/domain_field.js";
import { type Field, mapped, orMissing, together as inOne } from "../fields/field.js";
import { numberField, numberText } from "../fields/number_field.js";
import { labelAt, named, plain, valueAt } from "../fields/values.js";
import { type Examples, type Kind, NEAREST, viewOf } from "./kind.js";

type FilledForm = Readonly<Record<string, unknown>>;

/** Up to so many labels fit into a list that opens; longer ones can be narrowed down. */
const MOST_SELECTED = 60;
/** Up to so many whole numbers are listed rather than typed. */
const FEW_NUMBERS = 12n;
/** Numbers that are shown of a range with two grid points. */
const MARKS = 5;

export function recordsKind({ fields, learned }: Pick<FormQuestion, "fields" | "learned">): Kind<FilledForm> {
  const names = fields.map(([name]) => name);
  return {
    size: null,
    words: [
      `Fill in what is true of you: ${count(names.length)} fields, and one report about them.`,
      `The collector learns, roughly and for everybody together, ${learned}.`,
    ],
    unfitting: NEAREST,
    field(_legend, id) {
      const made = fields.map(([name, values], i) => fieldOf(values, named(name), `${id}-${i}`));
      return mapped(inOne(made, null, "record form"), (given) => record(names, given));
    },
    text: (value) => fields.map((field) => textOf([field], value)).join("\n"),
    drawn({ fields: about }) {
      const others = names.filter((_, i) => !about!.includes(i));
      if (others.length === 0) return "";
      return `The lot fell before your answers were looked at. The report says nothing about ${listed(others.map(named))}.`;
    },
    examples: ({ fields: about }, mine) => cells(fields, about!, mine),
  };
}

/** Names of fields that are told one by one. */
const MOST_NAMED = 5;

function listed(names: readonly string[]): string {
  if (names.length > MOST_NAMED) return "the other fields";
  return [names.slice(0, -1).join(", "), names.at(-1)!].filter(Boolean).join(" and ");
}

const record = (names: readonly string[], given: readonly unknown[]): FilledForm =>
  Object.fromEntries(names.map((name, i) => [name, given[i]]));

const isGrid = (values: RecordField): values is NumberGrid => values instanceof NumberGrid;

function fieldOf(values: RecordField, label: string, id: string): Field<unknown> {
  if (isGrid(values)) return numberField(values, label, id);
  if (values instanceof LabelDomain) {
    const names = values.names.map((name) => plain(String(name)));
    const listed = names.length > MOST_SELECTED ? choices(names, label, id) : selectField(names, label, id);
    return orMissing(mapped(listed, (i): unknown => values.names[i]), values.missing, plain(String(values.missing)));
  }
  if (values instanceof RangeDomain) {
    if (values.size > FEW_NUMBERS) return rangeField(values, label, id);
    const names = Array.from({ length: Number(values.size) }, (_, i) => values.label(i));
    return wholeOrMissing(mapped(selectField(names, label, id), (i) => values.start + values.step * BigInt(i)), values);
  }
  return textField(values as TextDomain, label, id);
}

/** What a record says of these fields. */
const textOf = (fields: readonly NamedField[], value: FilledForm): string =>
  fields.map(([name, values]) => `${named(name)}: ${fieldText(values, value[name])}`).join(" · ");

function fieldText(values: RecordField, value: unknown): string {
  if (!isGrid(values)) return labelAt(values, values.index(value));
  return numberText(value as number, values);
}

/** Numbers of a range that are shown: its grid points, or some between its ends where it has no others. */
const marksOf = ({ points }: NumberGrid): number => (points === 2 ? MARKS : points);

const sizeOf = (values: RecordField): bigint => (isGrid(values) ? BigInt(marksOf(values)) : values.size);

/** The value of that number; of a number's range the mark. */
const valueOf = (values: RecordField, index: bigint): unknown =>
  isGrid(values) ? values.low + (Number(index) / (marksOf(values) - 1)) * (values.high - values.low) : valueAt(values, index);

/** The values of the fields that a report is about, each as a record: of the other fields any do, for they do not count. */
function cells(attributes: readonly NamedField[], drawn: readonly number[], mine: FilledForm | null): Examples<FilledForm>[] {
  const fields = drawn.map((at) => attributes[at]!);
  const size = fields.reduce((product, [, values]) => product * sizeOf(values), 1n);
  const view = viewOf(size);
  if (view === null) return [];
  const any = () => record(attributes.map(([name]) => name), attributes.map(([, values]) => valueOf(values, 0n)));
  const base = mine ?? any();
  const value = (i: number): FilledForm => {
    const cell: Record<string, unknown> = { ...base };
    let rest = BigInt(i);
    for (const [name, values] of [...fields].reverse()) {
      cell[name] = valueOf(values, rest % sizeOf(values));
      rest /= sizeOf(values);
    }
    return cell;
  };
  const about = "From somebody who answers:";
  const grid = { view, about, size: Number(size), own: -1, label: (i: number) => textOf(fields, value(i)), value };
  if (mine === null) return [grid];
  const own = ownCell(fields, mine);
  if (own !== null) return [{ ...grid, own }];
  return [{ ...grid, view: "rows", about: "", size: 1, own: 0, label: () => textOf(fields, mine), value: () => mine }, grid];
}

/** The cell that a record lies in; null where a number of it lies between two points. */
function ownCell(fields: readonly NamedField[], mine: FilledForm): number | null {
  if (fields.some(([, values]) => isGrid(values))) return null;
  return Number(
    fields.reduce((index, [name, values]) => index * sizeOf(values) + (values as Domain).index(mine[name]), 0n),
  );
}

/** Some of a list of options: none, one or several, at most so many. */
import type { Choices } from "../../../../js/src/questions/choices.js";
import { count } from "../../parts/format.js";
import { ticks } from "../fields/ticks.js";
import { mapped, orMissing } from "../fields/field.js";
import { elseLabel, labelAt, valueAt } from "../fields/values.js";
import { type Examples, type Kind, viewOf } from "./kind.js";

type TickedOptions = readonly unknown[];

/** Most own options for which a picture shows the report without them. */
const MOST_WITHOUT = 6;
const NOTHING = "nothing ticked";

export function choicesKind({ options, most }: Pick<Choices, "options" | "most">): Kind<TickedOptions> {
  const size = Number(options.size);
  const labels = Array.from({ length: size }, (_, i) => labelAt(options, BigInt(i)));
  const label = (option: unknown) => labelAt(options, options.index(option));
  const value = (i: number) => valueAt(options, BigInt(i));
  // Where an option says so already, the box for nothing at all must not be called the same.
  const none = elseLabel(labels) === null ? "None of these" : "I tick nothing";
  return {
    size: null,
    words: [
      `Tick what is true of you${most < size ? `, at most ${count(most)}` : ""}.`,
      "The collector learns about how many people tick each option, and not who ticked which.",
    ],
    unfitting: `If nothing fits, tick “${none}”: from outside that looks like every other answer.`,
    field(legend, id) {
      const given = mapped(ticks(labels, most, none, legend, id), (ticked): TickedOptions => ticked.map(value));
      return options.missing === null ? given : orMissing(given, [options.missing], label(options.missing));
    },
    text: (ticked) => ticked.map(label).join(", ") || none,
    drawn: () => "",
    examples: (_found, mine) => [...around(mine, label), ...single(labels, value)],
  };
}

/** The person's own answer, the same without one of its options each, and the empty one. */
function around(mine: TickedOptions | null, label: (option: unknown) => string): Examples<TickedOptions>[] {
  const own = mine ?? [];
  const left = own.length < 2 ? [] : own.slice(0, MOST_WITHOUT);
  const answers = [
    ...(own.length === 0 ? [] : [{ name: own.length > 2 ? `all ${own.length} that you tick` : own.map(label).join(", "), ticked: own }]),
    ...left.map((one) => ({ name: `without “${label(one)}”`, ticked: own.filter((option) => option !== one) })),
    { name: NOTHING, ticked: [] },
  ];
  return [
    {
      view: "rows",
      about: own.length === 0 ? "" : "With your options, and without them:",
      size: answers.length,
      own: mine === null ? -1 : 0,
      label: (i) => answers[i]!.name,
      value: (i) => answers[i]!.ticked,
    },
  ];
}

/** Answers of one option only. */
function single(labels: readonly string[], value: (i: number) => unknown): Examples<TickedOptions>[] {
  const view = viewOf(labels.length);
  if (view === null) return [];
  const about = "From somebody who ticks one option only:";
  return [{ view, about, size: labels.length, own: -1, label: (i) => labels[i]!, value: (i) => [value(i)] }];
}

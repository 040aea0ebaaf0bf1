/** Whether a survey is asked once or in every period of a calendar, and the fields of the calendar as the collector declares them. */
import type { ParameterEntry } from "../../parts/api_types.js";
import { el } from "../../parts/dom.js";
import { sentence } from "../../parts/trouble.js";
import { radios, type Fields } from "../../questions/fields.js";
import { labelOf } from "../../questions/parameter_fields.js";
import { readParameters, textOf, type Faults, type Typed, type Value } from "../../questions/typed.js";

/** What the form holds of it. */
interface Repeating {
  repeats: string;
  typed: Typed;
}

/** What a period can be besides a number of days. */
const UNITS = ["day", "week", "month", "quarter", "year"];

/** The choice, and the calendar's fields where it is asked again and again. */
export function calendarFields(declared: readonly ParameterEntry[], fields: Fields, filled: Repeating, changed: () => void): HTMLElement {
  const inside = el("div", { class: "pair calendar" });
  const note = el("p", { class: "quiet" }, "Everybody draws one period, by chance and on their own device, answers then, and is asked no more before the next window. Nobody is asked in every period.");
  const show = (): void => void (inside.hidden = note.hidden = filled.repeats === "");
  const choose = (value: string): void => {
    filled.repeats = value === "once" ? "" : "yes";
    show();
    changed();
  };
  const type = (name: string) => (event: Event) => {
    filled.typed.texts[name] = (event.target as HTMLInputElement).value;
    changed();
  };
  begin(declared, filled.typed);
  inside.append(...declared.map((parameter) => fields.field(parameter.name, labelOf(parameter.name), control(parameter, filled.typed, type(parameter.name)), sentence(parameter.help))));
  show();
  return el(
    "fieldset",
    { class: "group" },
    el("legend", {}, "Repeat"),
    el("div", { class: "segments" }, ...radios("repeats", filled.repeats === "" ? "once" : "again", { once: ["Asked once"], again: ["In every period"] }, choose)),
    note,
    inside,
    el("datalist", { id: "lengths-of-periods" }, ...UNITS.map((value) => el("option", { value }))),
  );
}

/** The calendar that was typed; what is wrong goes to `faults`. */
export function calendarOf(declared: readonly ParameterEntry[], typed: Typed, faults: Faults): Record<string, Value> {
  const found = readParameters(declared, typed, faults);
  for (const { name, required, example } of declared)
    if (required && found[name] === "") faults.set(name, `Give one such as ${example}.`);
  return found;
}

/** What a new calendar begins with: a year of weeks from the next Monday. */
function begin(declared: readonly ParameterEntry[], { texts }: Typed): void {
  // One of the two says how long it goes on.
  const told = texts["periods"] !== undefined || texts["renews"] !== undefined;
  const first: Record<string, string> = { every: "week", starts: nextMonday(new Date()), ...(told ? {} : { periods: "52" }) };
  for (const { name } of declared) if (first[name] !== undefined) texts[name] ??= first[name];
}

/** The day of the next Monday in UTC, as a date field holds it. */
export function nextMonday(now: Date): string {
  const ahead = (8 - now.getUTCDay()) % 7 || 7;
  return new Date(now.getTime() + 86_400_000 * ahead).toISOString().slice(0, 10);
}

function control(parameter: ParameterEntry, typed: Typed, oninput: (event: Event) => void): HTMLInputElement {
  const { name, kind } = parameter;
  const given = { class: "figures", autocomplete: "off", value: textOf(parameter, typed), oninput };
  if (name === "starts") return el("input", { ...given, type: "date" });
  if (name === "every") return el("input", { ...given, type: "text", list: "lengths-of-periods" });
  return el("input", { ...given, type: "text", inputmode: kind === "integer" ? "numeric" : "text" });
}

/** Fields of a form: each with its label and help, and a place where it is said what is wrong with it. */
import { el, fill } from "../parts/dom.js";
import type { Faults } from "./typed.js";

interface FieldPlace {
  control: HTMLElement;
  error: HTMLElement;
}

export class Fields {
  private readonly places = new Map<string, FieldPlace>();

  /** A label, its control, help beneath it, and the place for errors. */
  field(
    name: string,
    label: string,
    control: HTMLElement,
    help: string | null = null,
    ...more: HTMLElement[]
  ): HTMLElement {
    control.id = `field-${name}`;
    const helpId = help === null ? "" : `help-${name} `;
    control.setAttribute("aria-describedby", `${helpId}error-${name}`);
    return el(
      "div",
      { class: "field" },
      el("label", { for: control.id }, label),
      help !== null && el("p", { class: "field-help", id: `help-${name}` }, help),
      control,
      this.placeFor(name, control),
      ...more,
    );
  }

  /** The place for errors of a control that has its label elsewhere. */
  placeFor(name: string, control: HTMLElement): HTMLElement {
    const error = el("p", { class: "field-error", id: `error-${name}` });
    const place = { control, error };
    this.places.set(name, place);
    control.addEventListener("input", () => hush(place));
    return error;
  }

  /** Says what is wrong, each at its field; goes to the first, if so wished; gives back what has no field here. */
  say(faults: Faults, { focus = true } = {}): string[] {
    this.clear();
    const homeless: string[] = [];
    let first: FieldPlace | undefined;
    for (const [name, what] of faults) {
      const place = this.find(name);
      if (place === undefined) {
        homeless.push(what);
        continue;
      }
      fill(place.error, what);
      place.control.setAttribute("aria-invalid", "true");
      place.control.closest("details")?.setAttribute("open", "");
      if (first === undefined || isBefore(place.control, first.control)) first = place;
    }
    if (focus) first?.control.focus();
    return homeless;
  }

  clear(): void {
    for (const place of this.places.values()) hush(place);
  }

  /** The collector may name a part of a field, as in `attributes.age`. Fields that are not in sight cannot show it. */
  private find(name: string): FieldPlace | undefined {
    const place = this.places.get(name) ?? this.places.get(name.split(/[.[]/)[0] ?? "");
    const shown = place !== undefined && place.control.isConnected && place.control.closest("[hidden]") === null;
    return shown ? place : undefined;
  }
}

/** What was wrong with a field is no longer said. */
function hush({ control, error }: FieldPlace): void {
  if (error.textContent === "") return;
  fill(error);
  control.removeAttribute("aria-invalid");
}

const isBefore = (one: Node, other: Node): boolean =>
  (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;

/** Radio buttons of one name; `onChoose` hears the value. */
export function radios<Value extends string>(
  name: string,
  chosen: Value,
  choices: Record<Value, (Node | string)[]>,
  onChoose: (value: Value) => void,
): HTMLElement[] {
  return (Object.entries(choices) as [Value, (Node | string)[]][]).map(([value, content]) =>
    el(
      "label",
      {},
      el("input", { type: "radio", name, value, checked: value === chosen, onchange: () => onChoose(value) }),
      ...content,
    ),
  );
}

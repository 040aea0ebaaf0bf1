/** The planner's fields for what is asked: values, a set of queries, or vectors. */
import { el } from "../parts/dom.js";
import { count, figure } from "../parts/format.js";
import { slider } from "./planner_slider.js";
import type { PlanState } from "./planner_state.js";
import { FAMILIES, workloadOf, workloadText } from "./planner_workload.js";

/** The fields of the state's kind; `again` draws them anew when others are needed. */
export function aboutFields(state: PlanState, changed: () => void, again: () => void): HTMLElement[] {
  if (state.kind === "distribution") {
    return [whole("size", "Values", [2, 1e6], [2, 2 ** 40], (n) => `every person has one of ${count(n)} values`)];
  }
  if (state.kind === "mean") {
    const words = (n: number): string => (n === 1 ? "a number a person" : `a vector of ${count(n)} numbers a person`);
    return [whole("dimension", "Dimension", [1, 1e5], [1, 2 ** 20], words), radius()];
  }
  return state.kind === "queries" ? queries() : [];

  function whole(
    name: "size" | "dimension",
    label: string,
    ends: [number, number],
    allowed: [number, number],
    words: (n: number) => string,
  ): HTMLElement {
    const made = slider({
      id: `plan-${name}`, label, ends, allowed, whole: true, text: count, words, changed: (value) => set(name, value),
    });
    made.set(state[name]);
    return made.host;
  }

  function radius(): HTMLElement {
    const words = (): string => "the largest norm a person's vector may have";
    const made = slider({
      id: "plan-radius", label: "Radius", ends: [0.1, 100], allowed: [1e-6, 1e6], whole: false,
      text: figure, words, changed: (value) => set("radius", value),
    });
    made.set(state.radius);
    return made.host;
  }

  function set(name: "size" | "dimension" | "radius", value: number): void {
    state[name] = value;
    changed();
  }

  function queries(): HTMLElement[] {
    const { family, parts } = workloadOf(state.workload);
    state.workload = workloadText(family, parts);
    const options = Object.entries(FAMILIES).map(([name, { label }]) =>
      el("option", { value: name, selected: name === family }, label),
    );
    const select = el("select", { id: "plan-family", onchange: () => take(select.value) }, ...options);
    const families = el("div", { class: "plan-field" }, el("label", { for: "plan-family" }, "Queries"), select);
    return [families, ...FAMILIES[family]!.parts.map(part)];

    function take(name: string): void {
      state.workload = workloadText(name, FAMILIES[name]!.parts.map(({ first }) => first));
      again();
      document.getElementById("plan-family")?.focus();
      changed();
    }

    function change(at: number, value: string): void {
      parts[at] = value;
      state.workload = workloadText(family, parts);
      changed();
    }

    function part({ name, bounds }: { name: string; bounds: [number, number] | null }, at: number): HTMLElement {
      const id = `plan-part-${at}`;
      if (bounds === null) {
        const field = el("input", {
          id, type: "text", value: parts[at]!, spellcheck: "false", autocomplete: "off", oninput: () => change(at, field.value),
        });
        return el("div", { class: "plan-field" }, el("label", { for: id }, name), field);
      }
      const made = slider({
        id, label: name, ends: bounds, allowed: bounds, whole: true,
        text: count, words: () => "", changed: (value) => change(at, String(value)),
      });
      made.set(Number(parts[at]) || bounds[0]);
      return made.host;
    }
  }
}

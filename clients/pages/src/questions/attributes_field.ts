/** Several attributes of a person, each with a name and its values. */
import { el, fill } from "../parts/dom.js";
import { readValues, understood } from "./answers.js";
import type { AttributeRow } from "./typed.js";

/** Rows for them; `attributes` is changed as somebody types, and `onChange` hears of it. A form may hold numbers too. */
export function attributesField(attributes: AttributeRow[], inForm: boolean, onChange: () => void): HTMLElement {
  const rows = el("div", { class: "attributes" });

  function show(): void {
    fill(rows, ...attributes.map(row));
  }

  function row(attribute: AttributeRow, position: number): HTMLElement {
    const said = el("p", { class: "field-help" });
    const tell = (): void => {
      const read = readValues(attribute.values, inForm);
      fill(said, "found" in read && understood(read.found));
    };
    tell();
    const which = `of attribute ${position + 1}`;
    return el(
      "div",
      { class: "attribute" },
      el("input", {
        value: attribute.name,
        placeholder: "name",
        "aria-label": `Name ${which}`,
        autocomplete: "off",
        spellcheck: "false",
        oninput: (event: InputEvent) => {
          attribute.name = (event.target as HTMLInputElement).value;
          onChange();
        },
      }),
      values(attribute, `Values ${which}`, inForm, () => {
        tell();
        onChange();
      }),
      el(
        "button",
        {
          type: "button",
          class: "plain remove",
          "aria-label": `Remove attribute ${position + 1}`,
          title: "Remove",
          onclick: () => remove(position),
        },
        "×",
      ),
      el("input", {
        class: "missing",
        value: attribute.missing ?? "",
        placeholder: "no answer counts as …",
        "aria-label": `What no answer counts as, ${which}`,
        autocomplete: "off",
        spellcheck: "false",
        oninput: (event: InputEvent) => {
          attribute.missing = (event.target as HTMLInputElement).value;
          onChange();
        },
      }),
      said,
    );
  }

  const names = (): HTMLInputElement[] => [...rows.querySelectorAll<HTMLInputElement>("input:not(.missing)")];

  function remove(position: number): void {
    attributes.splice(position, 1);
    if (attributes.length === 0) attributes.push({ name: "", values: "" });
    show();
    onChange();
    names()[Math.min(position, attributes.length - 1)]?.focus();
  }

  function add(): void {
    attributes.push({ name: "", values: "" });
    show();
    onChange();
    names().at(-1)?.focus();
  }

  show();
  return el("div", {}, rows, el("button", { type: "button", class: "plain small", onclick: add }, "Add an attribute"));
}

function values(attribute: AttributeRow, label: string, inForm: boolean, onType: () => void): HTMLElement {
  const area = el("textarea", {
    rows: 1,
    placeholder: inForm ? "0 to 99, or DE, FR, IT, or 0 to 600 minutes" : "0 to 99, or DE, FR, IT",
    "aria-label": label,
    spellcheck: "false",
    oninput: () => {
      attribute.values = area.value;
      onType();
    },
  });
  area.value = attribute.values;
  return area;
}

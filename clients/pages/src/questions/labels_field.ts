/** Names of values, one per line: a few that are typed, or thousands that are pasted. */
import type { ParameterEntry } from "../parts/api_types.js";
import { el, fill } from "../parts/dom.js";
import { counted } from "../parts/format.js";
import { capital, sentence } from "../parts/trouble.js";
import { readLabels } from "./answers.js";
import type { Fields } from "./fields.js";

/** Characters from which on a paste is worth a shortcut. */
const MUCH = 20_000;

/** The field; `type` hears of every change. */
export function labelsField(fields: Fields, parameter: ParameterEntry, text: string, type: (text: string) => void): HTMLElement {
  const { name, help, example } = parameter;
  const said = el("p", { class: "field-help", "aria-live": "polite" });
  const tell = (now: string): void => {
    const read = readLabels(now);
    fill(said, "found" in read && counted(read.found.length, "value"));
  };
  const area = el("textarea", {
    rows: 6,
    spellcheck: "false",
    placeholder: example.replaceAll(",", "\n"),
    oninput: () => {
      tell(area.value);
      type(area.value);
    },
    onpaste: (event: ClipboardEvent) => pasteMuch(area, event),
  });
  area.value = text;
  tell(text);
  return fields.field(name, capital(name), area, `${sentence(help)} One per line.`, said);
}

/** Browsers take seconds to paste thousands of lines; set at once they take none, at the price of undoing it. */
function pasteMuch(area: HTMLTextAreaElement, event: ClipboardEvent): void {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (text.length < MUCH) return;
  event.preventDefault();
  area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new Event("input"));
}

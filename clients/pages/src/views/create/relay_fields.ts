/** Whether reports come directly or through a relay, and which; what it adds to the promise is said when it is checked. */
import { el } from "../../parts/dom.js";
import { numberFrom, wholeNumber } from "../../questions/answers.js";
import { radios, type Fields } from "../../questions/fields.js";
import type { Faults } from "../../questions/typed.js";

/** What the form holds of it, under the names that the collector has for its fields. */
export interface Relayed {
  /** Not empty where reports go through a relay. */
  relays: string;
  "relay.url": string;
  "relay.least": string;
  "relay.delta": string;
}

type RelayLine = Exclude<keyof Relayed, "relays">;

const NOTE =
  "The relay sees addresses and no answers; this collector gets answers, shuffled, and no addresses. Somebody else must " +
  "run it: the second promise holds while the two do not share what they see. The first, by epsilon, holds in any case.";

/** The choice, and the relay's fields where there is one. */
export function relayFields(fields: Fields, filled: Relayed, changed: () => void): HTMLElement {
  const line = (name: RelayLine, label: string, help: string, given: { inputmode: string; placeholder?: string }): HTMLElement => {
    const typed = (event: Event): void => {
      filled[name] = (event.target as HTMLInputElement).value;
      changed();
    };
    const control = el("input", { type: "text", autocomplete: "off", class: "figures", value: filled[name], oninput: typed, ...given });
    return fields.field(name, label, control, help);
  };
  const note = el("p", { class: "quiet" }, NOTE);
  const inside = el(
    "div",
    { class: "pair relay" },
    line("relay.url", "The relay’s address", "Devices send there, and nowhere else.", { inputmode: "url", placeholder: "https://relay.example.org" }),
    line("relay.least", "Smallest batch", "Fewer reports than that are never forwarded. The more, the better the second promise, and the longer the wait.", { inputmode: "numeric", placeholder: "10,000" }),
    line("relay.delta", "Delta of the second promise", "Empty: 0.000001.", { inputmode: "decimal" }),
  );
  const show = (): void => void (inside.hidden = note.hidden = filled.relays === "");
  const choose = (value: string): void => {
    filled.relays = value === "direct" ? "" : "yes";
    show();
    changed();
  };
  show();
  const choices = { direct: ["Sent to this collector"], relay: ["Through a relay"] };
  return el(
    "fieldset",
    { class: "group" },
    el("legend", {}, "Reports are"),
    el("div", { class: "segments" }, ...radios("relays", filled.relays === "" ? "direct" : "relay", choices, choose)),
    note,
    inside,
  );
}

/** The relay that was typed, for the draft; what is wrong goes to `faults`. */
export function relayOf(filled: Relayed, faults: Faults): { relay?: Record<string, unknown> } {
  if (filled.relays === "") return {};
  const url = filled["relay.url"].trim();
  const least = wholeNumber(filled["relay.least"]);
  const delta = filled["relay.delta"].trim() === "" ? undefined : numberFrom(filled["relay.delta"]);
  if (url === "") faults.set("relay.url", "Give its address, such as https://relay.example.org.");
  if (least === null || least < 2) faults.set("relay.least", "A whole number, 2 or more.");
  if (delta === null || delta === 0) faults.set("relay.delta", "A number above 0, such as 0.000001, or nothing for that.");
  return { relay: { url, least, ...(delta === undefined ? {} : { delta }) } };
}

/** Public groups of a survey as they are typed: a line for each variable, such as "arm: A, B". */
import { el, fill } from "../../parts/dom.js";
import { count, counted } from "../../parts/format.js";
import { openly } from "../../parts/group.js";
import type { Read } from "../../questions/answers.js";
import type { Fields } from "../../questions/fields.js";
import type { Faults } from "../../questions/typed.js";

export type Variables = Record<string, string[]>;

/** Most groups of a survey: with one for every person a group would say who answered. */
const MOST = 100;
const HELP = "What you know of people anyway: the arm of a test, a platform, a country. One variable in each line, then its values.";
const NOTE = "A group leaves in the open beside the report. It is not randomized, so it costs no epsilon, and everybody reads before answering that it is sent. Nothing private belongs here.";

/** The field, with the number of groups and what people will read, as it is typed. */
export function groupFields(fields: Fields, filled: { groups: string }, changed: () => void): HTMLElement {
  const told = el("div", { class: "groups-told", "aria-live": "polite" });
  const show = (): void => {
    const read = readGroups(filled.groups);
    fill(told, ...("found" in read && read.found !== null ? preview(read.found) : []));
  };
  const area = el("textarea", {
    rows: 2,
    placeholder: "arm: A, B",
    spellcheck: "false",
    oninput: () => {
      filled.groups = area.value;
      show();
      changed();
    },
  });
  area.value = filled.groups;
  show();
  return el(
    "details",
    { class: "more groups", open: filled.groups.trim() !== "" },
    el("summary", {}, "Public groups"),
    fields.field("groups", "Groups", area, HELP),
    el("p", { class: "quiet" }, NOTE),
    told,
  );
}

function preview(variables: Variables): HTMLElement[] {
  const size = sizeOf(variables);
  const label = Object.entries(variables).map(([name, values]) => `${name} ${values[0]}`).join(", ");
  return [
    el("p", {}, el("strong", { class: "figures" }, counted(size, "group")), ` of at most ${MOST}. People of the first will read:`),
    el("blockquote", {}, openly(label)),
  ];
}

const sizeOf = (variables: Variables): number => Object.values(variables).reduce((size, values) => size * values.length, 1);

/** The groups that were typed, for the draft; what is wrong goes to `faults`. */
export function groupsOf({ groups }: { groups: string }, faults: Faults): { groups?: Variables } {
  const read = readGroups(groups);
  if ("wrong" in read) faults.set("groups", read.wrong);
  return "found" in read && read.found !== null ? { groups: read.found } : {};
}

/** The variables, null where there are none, or what is wrong with a line. */
export function readGroups(text: string): Read<Variables | null> {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const found = new Map<string, string[]>();
  for (const line of lines) {
    const [, name = "", listed = ""] = /^([^:=]+)[:=](.*)$/u.exec(line) ?? [];
    const variable = name.trim();
    const values = listed.split(",").map((value) => value.trim()).filter((value) => value !== "");
    if (variable === "" || values.length < 2) return { wrong: `“${line}”: write a name, a colon and two values or more, such as arm: A, B.` };
    if (found.has(variable)) return { wrong: `${variable} is there twice; name each variable once.` };
    if (new Set(values).size < values.length) return { wrong: `A value of ${variable} is there twice; name each once.` };
    found.set(variable, values);
  }
  const variables = Object.fromEntries(found);
  const size = sizeOf(variables);
  if (size > MOST) return { wrong: `That makes ${count(size)} groups; at most ${MOST} are allowed, since a small group says who its people are. Merge values, or leave a variable out.` };
  return { found: found.size === 0 ? null : variables };
}

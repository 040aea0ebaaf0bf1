/** The public group that a report is sent for: said by the page or the link, or chosen by the person. */
import { type Asked, Panel, type Survey, Tracking } from "../../../js/src/index.js";
import type { PublicGroup, Groups } from "../../../js/src/surveys/groups.js";
import { el } from "../parts/dom.js";
import { openly } from "../parts/group.js";
import { selectField } from "./fields/choices.js";
import type { Field } from "./fields/field.js";

/** The groups that a survey states; null where it has none. */
export function groupsOf(survey: Asked): Groups | null {
  if (survey instanceof Panel) return null;
  return survey instanceof Tracking ? survey.groups : (survey.crowd?.groups ?? null);
}

/** The group that a link or an attribute names, as "B" or as "arm=B,platform=web"; throws where there is none such. */
export function givenGroup(groups: Groups | null, given: string): PublicGroup | null {
  if (groups === null || given === "") return null;
  const parts = given.split(",").map((part) => part.split("=", 2));
  return groups.find(given.includes("=") ? Object.fromEntries(parts) : given);
}

/** The survey of that id: this one, or that of one of its groups; null where it is neither. */
export async function memberOf(survey: Survey, id: string): Promise<Survey | null> {
  if (survey.id === id) return survey;
  for (const { values } of survey.crowd?.groups.all ?? []) {
    const member = await survey.inGroup(values);
    if (member.id === id) return member;
  }
  return null;
}

/** Where a person says their group, or reads which one is sent; `read` gives its values. */
export function groupField(groups: Groups, given: PublicGroup | null): Field<Readonly<Record<string, string>>> {
  if (given !== null) {
    return { element: openly(given.label), read: () => given.values, problem: () => "", focus: () => undefined };
  }
  const fields = groups.variables.map(([name, values], at) => ({ name, values, field: selectField(values, name, `group-${at}`) }));
  const missing = () => fields.find(({ field }) => field.read() === null)?.field;
  const legend = el("legend", { class: "name" }, "Your group, which is sent in the open");
  const note = "It goes out as it is, beside the random report: whoever asks sees it.";
  return {
    element: el(
      "fieldset",
      { class: "field group" },
      legend,
      ...fields.map(({ field }) => field.element),
      el("p", { class: "quiet small" }, note),
    ),
    read: () =>
      missing() ? null : Object.fromEntries(fields.map(({ name, values, field }) => [name, values[field.read()!]!])),
    problem: () => missing()?.problem() ?? "",
    focus: () => missing()?.focus(),
  };
}

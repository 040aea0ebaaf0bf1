/** Reading surveys: what a collector publishes, as the object that a device answers. */
import { SurveyError } from "../core/errors.js";
import { checkFields, parseJson } from "../core/json.js";
import { checkDelta, checkEpsilon, checkInteger, MAX_SURVEY_BYTES } from "../core/limits.js";
import type { BroughtMechanisms } from "../mechanisms/base/finite.js";
import { keyOf } from "../randomness/philox.js";
import type { Question } from "../questions/question.js";
import { readQuestion } from "../questions/registry.js";
import { type Attachments, readDesign } from "../strategies/design.js";
import { Calendar } from "./calendar.js";
import { Groups } from "./groups.js";
import { Panel } from "./panel.js";
import { readRelay } from "./relay.js";
import { readSeat } from "./seat.js";
import { readStatement, type Statement } from "./statement.js";
import { Survey } from "./survey.js";
import { Tracking } from "./tracking.js";

/** What a device can be asked to answer. */
export type Asked = Survey | Panel | Tracking;

/**
 * The survey, panel or tracking survey behind its JSON; every field is checked, unknown ones are refused.
 *
 * Keys may stand in any order; numbers only in their shortest form, as every published survey has them.
 * `attachments` holds what the JSON names by its digest, if anything; `mechanisms` those of other packages that it may
 * name.
 */
export async function readSurvey(
  text: string | Uint8Array,
  attachments: Attachments = {},
  mechanisms: BroughtMechanisms = {},
): Promise<Asked> {
  if (text.length > MAX_SURVEY_BYTES) throw new SurveyError(`a survey must have at most ${MAX_SURVEY_BYTES} bytes`);
  const statement = await readStatement(parseJson(text));
  return "panel" in statement.json ? new Panel(statement) : readAsked(statement, attachments, mechanisms);
}

/** A question, the design by which it is asked, and what makes it a round, a tracking survey or a period of one. */
async function readAsked(
  statement: Statement,
  attachments: Attachments,
  mechanisms: BroughtMechanisms,
): Promise<Survey | Tracking> {
  const { json, digest } = statement;
  const own = ["seat", "calendar", "period", "relay", "groups"].filter((field) => field in json);
  if (own[0] === "seat") own.length = 1; // a round has no calendar, no relay and no groups
  if (own[0] === "period") own.push("calendar");
  if ("group" in json) own.push("group", ...("groups" in json ? [] : ["groups"]));
  checkFields(json, "a survey", "format", "title", "epsilon", "delta", "question", "design", ...own);
  const delta = checkDelta(json.delta);
  const relay = readRelay(json.relay);
  const groups = Groups.read(json.groups);
  const group = groups && "group" in json ? groups.numbered(json.group) : null;
  // All groups of a survey share its public randomness, so that their counts add up.
  const { group: _, ...whole } = json;
  const keyed = group ? (await readStatement(whole)).digest : digest;
  const terms = { epsilon: checkEpsilon(json.epsilon), delta, key: keyOf(keyed) };
  const calendar = "calendar" in json ? Calendar.read(json.calendar) : null;
  const question = readQuestion(json.question);
  const design = await readDesign(json.design, question as Question, terms, attachments, mechanisms);
  if (calendar && !("period" in json)) {
    if (group) throw new SurveyError("a tracking survey states groups, and not one of them");
    const period = async (number: number) =>
      (await readAsked(await readStatement({ ...json, period: number }), attachments, mechanisms)) as Survey;
    return new Tracking(statement, { delta, question, design, calendar, relay, groups }, attachments, period);
  }
  const most = calendar?.periods ?? Number.MAX_SAFE_INTEGER;
  const period = calendar && calendar.period(checkInteger("period", json.period, 1, most));
  const round = { question, mechanism: design.mechanism.name, epsilon: terms.epsilon };
  const seat = "seat" in json ? await readSeat(json.seat!, round) : null;
  const inGroup = async (number: number) =>
    (await readAsked(await readStatement({ ...json, group: number }), attachments, mechanisms)) as Survey;
  const crowd = groups && { groups, group, inGroup };
  return new Survey(statement, delta, question, design, seat, period, calendar?.renews ?? false, relay, crowd);
}

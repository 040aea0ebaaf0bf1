/** What the element's attributes ask for; what is wrong with them is shown to the author of the page. */
import { fromBase64url } from "../../../js/src/core/bytes.js";
import { ServiceError } from "../../../js/src/core/errors.js";
import { collectorUrl, Http } from "../../../js/src/device/http.js";
import { checkPublicKey, PUBLIC_KEY_BYTES } from "../../../js/src/core/signature.js";
import { oneLine } from "../../../js/src/core/text.js";
import type { Trusting } from "../survey/machine.js";
import { mistake } from "./setback.js";

export interface WantedSurvey {
  /** The collector's address in canonical form. */
  readonly url: string;
  /** The survey's id or title. */
  readonly name: string;
  readonly trusting: Trusting;
  /** The language of the survey's own words; empty where it is that of the page around. */
  readonly lang: string;
  /** The group that reports are sent for, as "B" or as "arm=B,platform=web"; empty where the person says it. */
  readonly group: string;
}

const ID = /^[0-9a-f]{64}$/;

/** `given` is an attribute's value, null where there is none. */
export function wantedBy(given: (name: string) => string | null): WantedSurvey {
  const [collector, name, key, relay] = ["collector", "survey", "key", "relay"].map((one) => given(one)?.trim() ?? "");
  if (!collector) throw mistake("bad_address", 'The collector attribute is missing: collector="https://stats.example.org".');
  if (!name) throw mistake("no_survey", "The survey attribute is missing: the survey's id, or its title.");
  if (key && !isKey(key)) {
    throw mistake("bad_key", "The key attribute must be the collector's public key, 43 letters in base64url: `sottovoce survey embed` prints it.");
  }
  if (relay && !ID.test(name)) {
    throw mistake("title_with_relay", "With a relay attribute the survey must be named by its id: titles are looked up at the collector.");
  }
  return {
    url: collectorUrl(collector),
    name,
    trusting: { ...(key && { key }), ...(relay && { relay, insistOnRelay: true }) },
    lang: given("lang")?.trim() ?? "",
    group: given("group")?.trim() ?? "",
  };
}

function isKey(text: string): boolean {
  try {
    return checkPublicKey(fromBase64url(text, PUBLIC_KEY_BYTES)).length > 0;
  } catch {
    return false;
  }
}

/** One line of the collector's public list, which nobody has signed: the survey itself is checked when it is fetched. */
interface ListedSurvey {
  readonly id: string;
  readonly title: string;
}

const MOST_PAGES = 100;
/** Bytes of one page: a thousand surveys with their titles. */
const LONGEST_PAGE = 2 ** 22;

/** The id of the only survey of that id or title. */
export async function surveyId({ url, name }: WantedSurvey): Promise<string> {
  if (ID.test(name)) return name;
  const found = [...new Set((await listed(url)).filter(({ title }) => title === name).map(({ id }) => id))];
  if (found.length === 1) return found[0]!;
  const title = JSON.stringify(oneLine(name));
  if (found.length === 0) {
    const how = "`sottovoce survey list` lists all. An id is surer than a title";
    throw mistake("unknown_survey", `The collector ${url} has no survey with the title ${title}; ${how}.`);
  }
  throw mistake(
    "ambiguous_title",
    `${found.length} surveys of ${url} have the title ${title}: ${found.join(", ")}. Name the one you mean by its id.`,
  );
}

async function listed(url: string): Promise<ListedSurvey[]> {
  const http = new Http(url);
  const lines: ListedSurvey[] = [];
  for (let page = 1; page <= MOST_PAGES; page++) {
    const found = (await http.get(`/v1/surveys?page=${page}`, LONGEST_PAGE)) as { surveys?: unknown; pages?: unknown };
    if (!Array.isArray(found?.surveys)) throw new ServiceError("it has no list of surveys", "bad_answer");
    lines.push(...found.surveys.filter(isLine));
    if (!(Number(found.pages) > page)) break;
  }
  return lines;
}

const isLine = (one: any): one is ListedSurvey => typeof one?.title === "string" && ID.test(String(one?.id));

/** The surveys of a list: which of them match what was typed, and what they come to. */
import type { Status, SurveyEntry, Surveys } from "../../parts/api_types.js";

/** What is looked for; empty text and "all" let everything through. */
export interface ListFilter {
  text: string;
  state: string;
  kind: string;
}

/** What a survey is called; by its id where it has no title. */
export const nameOf = ({ title, id }: { title: string; id: string }): string =>
  title.trim() || `Untitled ${id.slice(0, 12)}`;

/** How much of an id must be typed before it is one: shorter ones may be a word, or a number. */
const ID_BEGINS = 6;

/** Those that match, in the same order: every word typed is in the title, or begins the id. */
export function matching(entries: readonly SurveyEntry[], { text, state, kind }: ListFilter): SurveyEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => {
    const title = nameOf(entry).toLowerCase();
    const found = words.every(
      (word) => title.includes(word) || (word.length >= ID_BEGINS && entry.id.startsWith(word)),
    );
    return found && (state === "all" || entry.state === state) && (kind === "all" || entry.kind === kind);
  });
}

/** How many surveys there are, how many take reports, how many reports came, and how many surveys have told so far. */
export function totals(
  entries: readonly SurveyEntry[],
  counts: ReadonlyMap<string, Status>,
): { surveys: number; open: number; reports: number; told: number } {
  const told = entries.flatMap(({ id }) => counts.get(id) ?? []);
  return {
    surveys: entries.length,
    open: entries.filter(({ state }) => state === "open").length,
    reports: told.reduce((sum, status) => sum + status.n_reports + status.waiting, 0),
    told: told.length,
  };
}

// The whole list of surveys, which a collector with very many sends in pages.

/** All surveys, oldest first, each once even when some are deleted between one page and the next. */
export async function allSurveys(fetchPage: (path: string) => Promise<Surveys>): Promise<SurveyEntry[]> {
  const first = await fetchPage("/v1/surveys");
  const found = new Map(first.surveys.map((entry) => [entry.id, entry]));
  for (let page = 2; page <= first.pages; page += 1) {
    const { surveys, pages } = await fetchPage(`/v1/surveys?page=${page}`);
    for (const entry of surveys) found.set(entry.id, entry);
    if (page >= pages) break;
  }
  return [...found.values()];
}

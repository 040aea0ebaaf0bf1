/** The whole list of surveys, which a collector with very many sends in pages. */
import type { SurveyEntry, Surveys } from "../../parts/api_types.js";

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

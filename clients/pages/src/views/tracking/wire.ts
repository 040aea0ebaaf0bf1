/** What the collector tells of a tracking survey, page by page where there are many periods. */
import type { CurveBody, PeriodList, PeriodStatus } from "../../parts/api_types.js";
import { ask } from "../../parts/api.js";

/** Every period that has begun, and how the survey stands. */
export async function periodsOf(id: string): Promise<PeriodList> {
  const first = await ask<PeriodList>(`/v1/surveys/${id}/periods`);
  const found = new Map(first.periods.map((period): [number, PeriodStatus] => [period.number, period]));
  let last = first;
  for (let page = 2; page <= last.pages; page += 1) {
    last = await ask<PeriodList>(`/v1/surveys/${id}/periods?page=${page}`);
    for (const period of last.periods) found.set(period.number, period);
  }
  return { ...last, periods: [...found.values()] };
}

/** How a curve is looked at. */
export interface Look {
  level: number;
  smooth: boolean;
}

/** The curve of one answer; of the first where none is named. */
export const curveOf = (id: string, answer: string | null, { level, smooth }: Look): Promise<CurveBody> =>
  ask(`/v1/surveys/${id}/curve?${new URLSearchParams({ ...(answer === null ? {} : { answer }), level: String(level), smooth: String(smooth) })}`);

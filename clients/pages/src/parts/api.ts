/** The collector's own addresses, asked by its own pages: the cookie says who asks. */

/** What the collector refused, in its own words. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field: string | null,
  ) {
    super(message);
  }
}

/** The collector gave no answer at all. */
export class Unreachable extends Error {
  constructor() {
    super("The collector does not answer. This page goes on trying.");
  }
}

/** Says that a request comes from a page of the collector's own: no other site can send this header along. */
const PAGE_HEADER = { "X-Sottovoce-Page": "1" };

let signedOut = (): void => undefined;

/** Calls back whenever the collector refuses a request for want of a good token; views need not look. */
export function onSignedOut(tell: () => void): void {
  signedOut = tell;
}

/** JSON from an address; `body` makes it a POST unless `method` says otherwise. */
export async function ask<Found>(path: string, body?: unknown, method?: string): Promise<Found> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: body === undefined ? PAGE_HEADER : { ...PAGE_HEADER, "Content-Type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
    });
  } catch {
    throw new Unreachable();
  }
  const text = await answer.text();
  if (answer.status === 401) signedOut();
  if (!answer.ok) throw refusalOf(answer.status, text);
  return (text === "" ? undefined : JSON.parse(text)) as Found;
}

function refusalOf(status: number, text: string): Error {
  try {
    const { code, message, field } = JSON.parse(text).error;
    return new Refusal(status, String(code), String(message), field ?? null);
  } catch {
    return status >= 502 ? new Unreachable() : new Refusal(status, "unreadable", `the collector answered ${status}`, null);
  }
}

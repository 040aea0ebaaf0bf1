/**
 * Why a collector could not be asked. A browser tells scripts only that a request failed, so the ways to fail are told
 * apart by one more request, whose answer no script may read, and by what the page's own policy reports.
 */
import { mistake, type Setback, type Stopped } from "./setback.js";

/** Milliseconds within which a browser reports to the page what its policy forbade. */
const TOLD_WITHIN = 200;

/** Seconds after which nobody is taken to be there. */
const SECONDS = 10;

/** Why; null where the collector really cannot be reached. */
export async function whyUnread(url: string): Promise<Setback | null> {
  const forbidden = forbiddenBy(document, new URL(url).origin);
  const isThere = await answers(url);
  if (isThere) return notAllowed(url).setback;
  return (await forbidden) ? forbiddenHere(url).setback : null;
}

/** Whether anything answers there at all, be it in words that this page may not read. */
async function answers(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(SECONDS * 1000);
    const unread = { mode: "no-cors", credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" } as const;
    await fetch(`${url}/v1/key`, { ...unread, signal });
    return true;
  } catch {
    return false;
  }
}

/** Whether the page's Content-Security-Policy is what forbids a request to this origin. */
function forbiddenBy(page: Document, origin: string): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (found: boolean) => {
      page.removeEventListener("securitypolicyviolation", hear);
      resolve(found);
    };
    const hear = (event: SecurityPolicyViolationEvent) => event.blockedURI.startsWith(origin) && end(true);
    page.addEventListener("securitypolicyviolation", hear);
    setTimeout(() => end(false), TOLD_WITHIN);
  });
}

function notAllowed(url: string): Stopped {
  return mistake(
    "origin_not_allowed",
    `This page's origin is ${location.origin}; the operator of ${url} must allow it: ` +
      `\`sottovoce serve --allow-origins ${location.origin}\`. (Something answers there, but this page may not read it. If ` +
      "that is not a Sottovoce collector, the collector attribute is wrong.)",
  );
}

const forbiddenHere = (url: string): Stopped =>
  mistake(
    "forbidden_by_policy",
    `This page's own Content-Security-Policy forbids requests to ${url}: add ${new URL(url).origin} to its connect-src.`,
  );

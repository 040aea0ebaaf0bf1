/** The survey page: a question, an answer that stays here, and a picture of what leaves. */
import { byId, emptyWhenLeft, fill } from "../parts/dom.js";
import { Machine } from "./machine.js";
import { Page } from "./page.js";
import { NO_SURVEY, platformTrouble, surveyIn, troubleOf } from "./trouble.js";
import { troubleView } from "./trouble_view.js";

const page = byId("page");

async function start(): Promise<void> {
  const lacking = platformTrouble(globalThis);
  if (lacking) return fill(page, troubleView(lacking));
  const id = surveyIn(location.pathname);
  if (id === null) return fill(page, troubleView(NO_SURVEY));
  // Page and service are of one version, and this one has a log.
  const machine = await Machine.open(id, location.origin, { requireLog: true });
  const group = new URLSearchParams(location.search).get("group") ?? "";
  await new Page(page, byId("told"), machine, group).start();
}

emptyWhenLeft();

start()
  .catch((error: unknown) => fill(page, troubleView(troubleOf(error))))
  .finally(() => page.removeAttribute("aria-busy"));

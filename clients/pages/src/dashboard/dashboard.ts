/** The dashboard: which view an address shows, once somebody is signed in. */
import type { SignedIn } from "../parts/api_types.js";
import { onSignedOut, Refusal, Unreachable } from "../parts/api.js";
import { byId, el, emptyWhenLeft, fill } from "../parts/dom.js";
import { applyTheme } from "../parts/theme.js";
import { onceInWords, troubleBox } from "../parts/trouble.js";
import { showCreate } from "../views/create/create.js";
import { showPlanner } from "../views/planner/planner.js";
import { showSurvey } from "../views/survey/survey.js";
import { showSurveys } from "../views/surveys/surveys.js";
import { routeOf, showHeader, type ViewName } from "./header.js";
import { currentSession, mayBeSignedIn, signOut, wasSignedIn, type View } from "../parts/session.js";
import { showSignIn } from "./sign_in.js";

const TRY_AGAIN = 3_000;
const NO_MORE = "Your token was revoked or has expired. Sign in again to go on where you were.";

const VIEWS: Record<ViewName, { title: string; show: View }> = {
  surveys: { title: "Surveys", show: showSurveys },
  create: { title: "New survey", show: showCreate },
  planner: { title: "Planner", show: showPlanner },
  survey: { title: "Survey", show: showSurvey },
  unknown: { title: "No such page", show: showNothing },
};

const route = routeOf(location.pathname);
const header = byId("header");
let signingIn = false;

/** A place of its own for each showing: what an earlier one still does there is seen by nobody. */
function freshPage(): HTMLElement {
  const page = el("main", { id: "page", tabindex: "-1" });
  byId("page").replaceWith(page);
  return page;
}

async function start(): Promise<void> {
  try {
    await show(await currentSession());
  } catch (error) {
    if (signingIn) return;
    if (error instanceof Refusal && error.status === 401) return letIn();
    fill(freshPage(), troubleBox(error));
    setTimeout(() => void start(), TRY_AGAIN);
  }
}

async function show(session: SignedIn): Promise<void> {
  signingIn = false;
  const { title, show } = VIEWS[route.view];
  document.title = `${title} · Sottovoce`;
  showHeader(header, route.view, session, () => void leave());
  const page = freshPage();
  try {
    await show(page, route.id === undefined ? { session } : { id: route.id, session });
  } catch (error) {
    if (signingIn) return;
    page.prepend(troubleBox(error));
    if (error instanceof Unreachable) setTimeout(() => void start(), TRY_AGAIN);
  }
}

function letIn(): void {
  if (signingIn) return;
  signingIn = true;
  document.title = "Sign in · Sottovoce";
  showHeader(header, route.view, null, () => undefined);
  showSignIn(freshPage(), wasSignedIn() ? NO_MORE : null, (session) => {
    void show(session);
    byId("page").focus();
  });
}

async function leave(): Promise<void> {
  try {
    await signOut();
    location.assign("/");
  } catch (error) {
    byId("page").prepend(el("p", { class: "trouble", role: "alert" }, onceInWords(error)));
  }
}

function showNothing(page: HTMLElement): void {
  fill(page, el("h1", {}, "This page does not exist"), el("p", {}, el("a", { href: "/" }, "All surveys")));
}

applyTheme();
emptyWhenLeft();
onSignedOut(letIn);
if (mayBeSignedIn()) void start();
else letIn();

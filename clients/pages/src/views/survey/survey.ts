/** One survey: its estimate as it comes in, what holds of it, and what can be done with it. */
import type { Picture, Status } from "../../parts/api_types.js";
import type { ViewContext } from "../../parts/session.js";
import { ask, Refusal, Unreachable } from "../../parts/api.js";
import { el, fill } from "../../parts/dom.js";
import { guaranteesCard } from "../../parts/promise.js";
import { follow } from "../../parts/live.js";
import { troublePlace } from "../../parts/trouble.js";
import { boundView } from "./bound.js";
import { certificateView } from "./certificate.js";
import { showConversation } from "../conversation/conversation.js";
import { groupsView } from "../groups/groups.js";
import { formWeights } from "../groups/weights.js";
import { embedView } from "../shared/embed.js";
import { estimateView } from "./estimate.js";
import { exportsView, peopleLink } from "../shared/exports.js";
import { endView } from "../shared/end.js";
import { headView, tooFew } from "../shared/head.js";
import { showTracking } from "../tracking/tracking.js";
import { Refetch } from "../../parts/refetch.js";
import { factsOf } from "../../questions/kinds.js";
import { wordsView } from "./words.js";

export async function showSurvey(page: HTMLElement, context: ViewContext): Promise<void> {
  const id = context.id ?? "";
  const status = await ask<Status>(`/v1/surveys/${id}/status`);
  if (status.kind === "tracking") return showTracking(page, context, status);
  if (status.rounds !== null) return showConversation(page, context, status);
  return showEstimate(page, context, status);
}

function showEstimate(page: HTMLElement, { session }: ViewContext, first: Status): void {
  const { id } = first;
  const { place, tell: say } = troublePlace();
  const kept = el("p", { class: "quiet", hidden: true }, "The answers below are the last ones received.");
  const head = headView();
  const estimate = estimateView(() => {
    files.intervals(estimate.choice);
    pictures.wanted();
  });
  const words = wordsView(id);
  const groups = first.groups ? groupsView(first, first.groups, estimate.choice) : factsOf(first.kind).isForm ? formWeights(first) : null;
  const bound = boundView(first);
  const certificate = certificateView(id);
  const end = endView(session, first);
  const files = exportsView(id, estimate.choice);
  const people = peopleLink(id);
  const embed = embedView(id);
  const waiting = el("div");
  const side = el("aside", { class: "survey-side", "aria-label": "About this survey" }, people, embed, files.element, end.element);
  const root = el("div", { class: "survey" }, el("div", { class: "survey-main" }, waiting, estimate.element, groups?.element ?? "", words.element, guaranteesCard(first.central), bound.element, certificate.element), side);
  fill(page, place, kept, head.element, root);

  const pictures = new Refetch<Picture>(
    () => ask(`/v1/surveys/${id}/picture?level=${estimate.choice.level}&always=${estimate.choice.looks}`),
    (picture) => {
      ready(true);
      estimate.update(picture);
      words.update(picture);
      groups?.update(picture, status);
      certificate.update(picture);
      bound.seen(picture);
      tell(null);
    },
    (error) => {
      if (error instanceof Refusal && error.code === "too_few_reports") ready(false);
      else tell(error);
    },
  );
  let status = first;
  let told = "";
  let unfollow = (): void => undefined;

  /** The last picture stays when the collector is unavailable. */
  function tell(error: unknown): void {
    kept.hidden = !(error instanceof Unreachable);
    say(error);
  }

  /** Whether there are enough reports for an estimate. */
  function ready(enough: boolean): void {
    estimate.element.hidden = files.element.hidden = !enough;
    if (!enough) certificate.element.hidden = words.element.hidden = true;
    if (groups !== null) groups.element.hidden = !enough;
    waiting.hidden = enough;
    fill(waiting, enough ? null : tooFew(status));
  }

  function heard(now: Status): void {
    if (!root.isConnected) return stop();
    status = now;
    head.update(now);
    end.update(now);
    people.hidden = embed.hidden = now.state !== "open";
    bound.count(now.n_reports, now.state === "open");
    const enough = now.n_reports >= Math.max(1, now.minimum_reports);
    ready(enough);
    // Once it is closed and all is counted, intervals are others.
    const standing = [now.n_reports, now.state, now.waiting > 0].join();
    if (enough && standing !== told) pictures.wanted();
    told = standing;
  }

  /** Trouble of the count; when it is over, what was missed meanwhile is asked for. */
  function troubled(error: Error | null): void {
    if (!root.isConnected) return stop();
    tell(error);
    if (error instanceof Refusal && [404, 410].includes(error.status)) root.inert = true;
    if (error === null && status.n_reports >= Math.max(1, status.minimum_reports)) pictures.wanted();
  }

  function stop(): void {
    pictures.stop();
    words.stop();
    groups?.stop();
    unfollow();
  }

  heard(first);
  if (root.isConnected) unfollow = follow(id, heard, troubled);
}

/**
 * One survey in somebody's page: what is shown and when it changes. The ledger decides, as on the survey page.
 *
 * The person's answer passes through `#answer` to the device and is stored nowhere; while the collector cannot be asked
 * it waits in this page's memory.
 */
import { type Answer, type Asked, encodeBatch, Panel, type Receipt, ServiceError, Tracking } from "../../../js/src/index.js";
import type { SurveyElementEvents, SurveyElementState } from "../../../js/src/element.js";
import { el, fill } from "../parts/dom.js";
import { type Found, Machine, Retry } from "../survey/machine.js";
import { givenGroup, groupsOf } from "../survey/group_view.js";
import { sendingOf, statusView, titleOf } from "../survey/status_view.js";
import { platformTrouble } from "../survey/trouble.js";
import type { MyTurn } from "../survey/turn_view.js";
import { turnTitle } from "../survey/turn_words.js";
import { whyUnread } from "./reaching.js";
import { mistake, type Setback, setbackOf, Stopped } from "./setback.js";
import { questionView, receiptView, type ShownSurvey, stoppedView, turnView } from "./views.js";
import { surveyId, type WantedSurvey } from "./wanted.js";

type Events = { [Name in keyof SurveyElementEvents]: SurveyElementEvents[Name]["detail"] };

/** Tells the page around. */
export type Tell = <Name extends keyof Events>(name: Name, detail: Events[Name]) => void;

const [QUESTION, STOPPED, TURN] = ["question", "stopped", "turn"] as const;

export class Embedded {
  state: SurveyElementState = "loading";
  #machine: Machine | null = null;
  #found: Found | null = null;
  #turn: { readonly receipt: Receipt; readonly isRefusing: boolean } | null = null;
  #setback: Setback | null = null;
  #problem = "";
  #isSending = false;
  #hasChosen = false;
  #isReady = false;
  /** What is shown, so that no typing is lost where nothing has changed. */
  #shown = "";
  /** Codes that the console has told already. */
  readonly #logged = new Set<string>();
  readonly #retry = new Retry();
  readonly #ended = new AbortController();

  constructor(
    /** Where everything is shown. */
    readonly place: HTMLElement,
    /** What screen readers say. */
    readonly told: HTMLElement,
    readonly wanted: WantedSurvey,
    readonly tell: Tell,
  ) {}

  async start(): Promise<void> {
    const { signal } = this.#ended;
    addEventListener("online", () => this.#retry.now(), { signal });
    this.place.addEventListener("input", () => (this.#hasChosen ||= this.#shown === QUESTION), { signal });
    await this.#begin();
  }

  /** Nothing more is shown, sent or tried from here; what was drawn stands in the ledger. */
  end(): void {
    this.#ended.abort();
    this.#retry.stop();
    this.#machine?.close();
  }

  get #isEnded(): boolean {
    return this.#ended.signal.aborted;
  }

  async #begin(): Promise<void> {
    try {
      const lacking = platformTrouble(globalThis);
      if (lacking) throw new Stopped({ code: "insecure", isRefusal: false, trouble: lacking, remedy: INSECURE });
      const id = await surveyId(this.wanted);
      const machine = await Machine.open(id, this.wanted.url, this.wanted.trusting);
      if (this.#isEnded) return machine.close();
      this.#machine = machine;
      machine.onChange(() => void this.#lookAgain());
    } catch (error) {
      return this.#stop(this.#later(await this.#setbackOf(error), () => void this.#begin()));
    }
    await this.#load();
  }

  /** The survey, and whatever stands of it. */
  async #load(): Promise<void> {
    const machine = this.#machine!;
    try {
      this.#found = await machine.look();
      const { survey } = this.#found;
      if (survey instanceof Panel) throw panelStop(this.#address);
      checkGroup(survey, this.wanted.group);
      if (survey instanceof Tracking) {
        this.#turn = { receipt: await machine.turn(), isRefusing: await machine.refusesRenewals() };
      } else if ((await machine.standing()) === null) await machine.admit(survey);
      this.#setback = null;
    } catch (error) {
      this.#setback = await this.#setbackOf(error);
    }
    if (this.#isEnded) return;
    if (this.#setback?.trouble.passing) this.#later(this.#setback, () => void this.#load());
    else this.#retry.stop();
    await this.#refresh();
    if (!this.#setback) this.#ready();
    if (!this.#setback?.trouble.passing) await this.#sendIfReleased();
  }

  #ready(): void {
    if (this.#isReady || this.#isEnded) return;
    this.#isReady = true;
    const { id, title, epsilon } = this.#found!.survey;
    this.tell("sottovoce-ready", { survey: id, title, epsilon, state: this.state });
  }

  /** What has changed in another tab, or while this one was not looked at: a turn may have come meanwhile. */
  #lookAgain(): Promise<void> {
    return this.#turn !== null && this.#shown !== QUESTION ? this.#load() : this.#refresh();
  }

  /** Show what the ledger holds now. */
  async #refresh(): Promise<void> {
    let kept: Answer | null;
    try {
      kept = await this.#machine!.standing();
    } catch (error) {
      return this.#stop(this.#later(await this.#setbackOf(error), () => void this.#load()));
    }
    if (this.#isEnded) return;
    if (kept !== null) return this.#report(kept);
    if (this.#setback !== null) return this.#stop(this.#setback);
    if (this.#turn !== null && this.#turn.receipt.state !== "due") return this.#showTurn();
    if (this.#shown !== QUESTION) {
      this.state = "asking";
      this.#show(QUESTION, questionView((await this.#known())!, (value, group) => void this.#answer(value, group)));
    }
  }

  async #showTurn(): Promise<void> {
    const shown = (await this.#known())!;
    const { state, period, after } = this.#turn!.receipt;
    const name = `${TURN} ${state} ${period!.number} ${after?.number} ${this.#turn!.isRefusing}`;
    if (this.#shown === name) return;
    this.state = "waiting";
    this.#show(name, turnView({ ...shown, turn: shown.turn! }), turnTitle(state, period!, shown.turn!.survey.calendar.every));
  }

  /** Draw once, and send it. Whatever happens meanwhile, the same report is sent. */
  async #answer(value: unknown, group: unknown): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    let kept: Answer | null = null;
    try {
      const receipt = await this.#machine!.draw(value, group);
      kept = await this.#machine!.standing();
      if (receipt === null || kept === null) {
        // The turn has passed meanwhile: nothing was drawn, and the question is about another one.
        this.#shown = STOPPED;
        await this.#load();
      }
    } catch (error) {
      this.#setback = this.#later(await this.#setbackOf(error), () => void this.#answer(value, group));
      this.#stop(this.#setback);
    } finally {
      this.#isSending = false;
    }
    if (kept !== null) await this.#send(kept);
  }

  async #sendIfReleased(): Promise<void> {
    const kept = await this.#machine!.standing().catch(() => null);
    if (kept?.state === "unsent" && this.#machine!.isReleased(kept)) await this.#send(kept);
  }

  async #send(kept: Answer): Promise<void> {
    if (this.#isSending || this.#isEnded || kept.state !== "unsent") return kept.state === "unsent" ? undefined : this.#refresh();
    this.#isSending = true;
    this.#problem = "";
    await this.#report(kept);
    try {
      const { state, problem } = await this.#machine!.send(kept);
      this.#problem = problem;
      if (state === "unsent") this.#retry.later(() => void this.#sendIfReleased());
      else this.#retry.stop();
      this.#tellSent(kept, state);
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : "";
    }
    this.#isSending = false;
    await this.#refresh();
  }

  #tellSent(kept: Answer, state: Receipt["state"]): void {
    const { question: survey, epsilon } = kept;
    if (state === "sent") {
      const { length: bytes } = encodeBatch(kept.survey, [[kept.reportId, kept.report]]);
      return this.tell("sottovoce-answered", { survey, epsilon, bytes });
    }
    const [name, code] = state === "refused" ? (["sottovoce-refused", "report_refused"] as const) : (["sottovoce-error", "unsent"] as const);
    const message = state === "refused" ? this.#problem : `${this.#problem}. The report is kept, and sent as soon as that works.`;
    this.#log(code, message);
    this.tell(name, { survey, code, message });
  }

  async #report(kept: Answer): Promise<void> {
    const machine = this.#machine!;
    const sending = sendingOf(kept.state, machine.isReleased(kept), this.#isSending);
    const name = `report ${sending} ${this.#problem} ${this.#found !== null} ${this.#turn?.isRefusing}`;
    if (this.#shown === name) return;
    this.state = sending === "sent" ? "answered" : sending === "refused" ? "refused" : "sending";
    const status = statusView(sending, kept.relay !== "", this.#problem, () => void this.#send(kept));
    const isUnused = this.#hasChosen && !machine.hasDrawn(kept);
    this.#show(name, receiptView(await this.#known(), kept, status, isUnused), titleOf(sending, kept.relay !== ""));
  }

  /** All that a view needs; null while the survey could not be had. */
  async #known(): Promise<ShownSurvey | null> {
    if (this.#found === null) return null;
    const { url, lang, trusting, group } = this.wanted;
    const ledger = await this.#machine!.ledger();
    return { found: this.#found, url, ledger, turn: this.#myTurn(), lang, isHidden: trusting.relay !== undefined, group };
  }

  #myTurn(): MyTurn | null {
    const survey = this.#found?.survey;
    if (this.#turn === null || !(survey instanceof Tracking)) return null;
    return { survey, origin: this.wanted.url, ...this.#turn, refuse: (refuses) => void this.#refuse(refuses) };
  }

  async #refuse(refuses: boolean): Promise<void> {
    await this.#machine!.refuseRenewals(refuses);
    this.#shown = STOPPED;
    await this.#load();
    this.place.querySelector<HTMLElement>("#renewals")?.focus({ preventScroll: true });
  }

  /** What an error means; one that a browser does not explain is looked into. */
  async #setbackOf(error: unknown): Promise<Setback> {
    const { url, name, trusting } = this.wanted;
    const setback = setbackOf(error, { url, name, survey: this.#found?.survey });
    const isUnread = error instanceof ServiceError && error.status === 0 && error.code === "unreachable";
    return (isUnread && navigator.onLine && (await whyUnread(trusting.relay ?? url))) || setback;
  }

  /** Try this again, if what has stopped it passes. */
  #later(setback: Setback, again: () => void): Setback {
    if (setback.trouble.passing && !this.#isEnded) this.#retry.later(again);
    return setback;
  }

  /** Show what stops it. What is tried again stays as it is: it may hold an answer that could not be drawn yet. */
  #stop(setback: Setback): void {
    if (this.#isEnded) return;
    const { code, isRefusal, trouble, remedy } = setback;
    const name = `${STOPPED} ${code}`;
    if (this.#shown === name) return;
    this.state = isRefusal ? "refused" : "stopped";
    const address = code === PANEL ? this.#address : "";
    this.#show(name, stoppedView(setback, trouble.passing ? () => this.#retry.now() : null, address), trouble.title);
    this.#log(code, remedy);
    const survey = this.#machine?.id ?? this.wanted.name;
    this.tell(isRefusal ? "sottovoce-refused" : "sottovoce-error", { survey, code, message: remedy });
  }

  /** The survey's own page at the collector. */
  get #address(): string {
    return `${this.wanted.url}/s/${this.#machine!.id}`;
  }

  #log(code: string, message: string): void {
    if (this.#logged.has(code)) return;
    this.#logged.add(code);
    console.error(`<sottovoce-survey> ${code}: ${message}`);
  }

  /** `words` are said aloud, unless this is the first thing shown. */
  #show(name: string, view: HTMLElement, words = ""): void {
    if (this.#isEnded) return;
    const isFirst = this.#shown === "";
    const hadFocus = this.place.contains((this.place.getRootNode() as ShadowRoot).activeElement);
    this.#shown = name;
    fill(this.place, view);
    this.place.removeAttribute("aria-busy");
    // Focus is never taken from the page around.
    if (hadFocus) heardOf(view)?.focus({ preventScroll: true });
    if (!isFirst && words) fill(this.told, el("span", {}, words));
  }
}

/** The heading that tells the news. */
const heardOf = (view: HTMLElement): HTMLElement | null =>
  view.querySelector<HTMLElement>(".status [tabindex='-1']") ?? view.querySelector<HTMLElement>("[tabindex='-1']");

const INSECURE = "Browsers offer cryptography only on pages that came over https, and on this machine's own.";

/** A group that the page names must be one of the survey's. */
function checkGroup(survey: Asked, given: string): void {
  const groups = groupsOf(survey);
  if (groups === null && given !== "") throw mistake("bad_group", "The survey has no groups: leave the group attribute out.");
  try {
    givenGroup(groups, given);
  } catch (error) {
    throw mistake("bad_group", `The group attribute: ${error instanceof Error ? error.message : ""}.`);
  }
}

const PANEL = "panel";

function panelStop(address: string): Stopped {
  const { setback } = mistake(PANEL, `A panel is answered on the survey's own page, ${address}, and not embedded.`);
  const text = "It asks its questions on a page of its own. Nothing was drawn and nothing was sent.";
  return new Stopped({ ...setback, trouble: { ...setback.trouble, title: "This survey is answered on its own page", text } });
}

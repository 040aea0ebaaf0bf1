/**
 * What is on the page, and when it changes: the ledger decides, and every tab reads the same one.
 *
 * The person's answer lives in one variable here until the page is closed, and nowhere else.
 */
import { explain, type Explanation } from "../../../js/src/explain.js";
import { type Answer, type Receipt, Survey, Tracking } from "../../../js/src/index.js";
import { el, fill } from "../parts/dom.js";
import { type Found, type Machine, Retry } from "./machine.js";
import { memberOf } from "./group_view.js";
import { questionView } from "./question_view.js";
import { reportView } from "./report_view.js";
import { UNUSED } from "./words.js";
import { sendingOf, statusView, titleOf, waitingView } from "./status_view.js";
import { type Trouble, troubleOf } from "./trouble.js";
import { troubleView } from "./trouble_view.js";
import { type MyTurn, turnAfter, turnView } from "./turn_view.js";
import { turnTitle } from "./turn_words.js";
import { who } from "./who_view.js";

/** What may be shown besides a report. */
const [QUESTION, WAITING, STOPPED, TURN] = ["question", "waiting", "stopped", "turn"] as const;

export class Page {
  #found: Found | null = null;
  /** This browser's turn in a tracking survey, and whether its owner refuses later ones. */
  #turn: { readonly receipt: Receipt; readonly isRefusing: boolean } | null = null;
  #trouble: Trouble | null = null;
  /** What the last draw was tried with. */
  #value: unknown = null;
  /** Whether the person has chosen or typed something as their answer. */
  #hasChosen = false;
  #problem = "";
  #isDrawing = false;
  #isSending = false;
  /** What is shown, so that nothing is drawn anew, and no typing lost, where nothing has changed. */
  #shown = "";
  /** What is shown in the part that says whether a report was sent. */
  #status = "";
  readonly #retry = new Retry();

  constructor(
    readonly host: HTMLElement,
    readonly told: HTMLElement,
    readonly machine: Machine,
    /** The group that the link names; empty for none. */
    readonly group = "",
  ) {}

  async start(): Promise<void> {
    this.machine.onChange(() => void this.#lookAgain());
    addEventListener("online", () => this.#retry.now());
    this.host.addEventListener("input", () => (this.#hasChosen ||= this.#shown === QUESTION));
    await this.#load();
  }

  /** The survey, and whatever stands of it. */
  async #load(): Promise<void> {
    try {
      this.#found = await this.machine.look();
      if (this.#found.survey instanceof Tracking) await this.#findTurn();
      else if ((await this.machine.standing()) === null) await this.machine.admit(this.#found.survey);
      this.#trouble = null;
    } catch (error) {
      this.#trouble = troubleOf(error, this.#found?.survey);
    }
    if (this.#trouble?.passing) this.#retry.later(() => void this.#load());
    else this.#retry.stop();
    await this.#refresh();
    if (!this.#trouble?.passing) await this.#sendIfReleased();
  }

  async #findTurn(): Promise<void> {
    this.#turn = { receipt: await this.machine.turn(), isRefusing: await this.machine.refusesRenewals() };
  }

  /** What has changed in another tab, or while this one was not looked at: a turn may have come meanwhile. */
  async #lookAgain(): Promise<void> {
    return this.#turn !== null && !this.#shown.startsWith(QUESTION) ? this.#load() : this.#refresh();
  }

  /** Show what the ledger holds now. */
  async #refresh(): Promise<void> {
    let kept: Answer | null;
    try {
      kept = await this.machine.standing();
    } catch (error) {
      return this.#stop(troubleOf(error));
    }
    if (kept !== null) return this.#report(kept);
    if (this.#trouble !== null) return this.#stop(this.#trouble);
    if (this.#turn !== null && this.#turn.receipt.state !== "due") return this.#showTurn(this.#turn.receipt);
    if (this.#shown.startsWith(TURN)) this.#shown = "";
    if (this.#shown === "" || this.#shown.startsWith(STOPPED)) await this.#ask();
  }

  async #ask(): Promise<void> {
    const found = this.#found!;
    const turn = this.#myTurn();
    document.title = `${found.survey.title || "A survey"} – Sottovoce`;
    const ledger = await this.machine.ledger();
    this.#show(QUESTION, questionView(found, this.machine.origin, ledger, (value, group) => void this.#draw(value, group), turn, this.group));
  }

  /** When this browser is asked, while that is not now. */
  async #showTurn(receipt: Receipt): Promise<void> {
    const { state, after } = receipt;
    const period = receipt.period!;
    const turn = this.#myTurn()!;
    const name = `${TURN} ${state} ${period.number} ${after?.number} ${turn.isRefusing}`;
    if (this.#shown === name) return;
    const isFirst = this.#shown === "";
    document.title = `${turn.survey.title || "A survey"} – Sottovoce`;
    this.#show(name, turnView(this.#found!, turn, await this.machine.ledger()));
    if (!isFirst) this.#say(turnTitle(state, period, turn.survey.calendar.every));
  }

  #myTurn(): MyTurn | null {
    const survey = this.#found?.survey;
    if (this.#turn === null || !(survey instanceof Tracking)) return null;
    const refuse = (refuses: boolean) => void this.#refuse(refuses);
    return { survey, origin: this.machine.origin, ...this.#turn, refuse };
  }

  /** The owner refuses further turns, or allows them again. */
  async #refuse(refuses: boolean): Promise<void> {
    const place = scrollY;
    await this.machine.refuseRenewals(refuses);
    await this.#load();
    scrollTo({ top: place });
    this.host.querySelector<HTMLElement>("#renewals")?.focus({ preventScroll: true });
    this.#say(refuses ? "Further turns are refused." : "Further turns are allowed.");
  }

  /** Draw once, and show it. Whatever happens meanwhile, the same answer is tried again. */
  async #draw(value: unknown, group: unknown): Promise<void> {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    this.#value = value;
    try {
      const receipt = await this.machine.draw(value, group);
      if (receipt === null) return await this.#askAgain();
      if (this.#turn && receipt.epsilon === 0) return await this.#load(); // the period has closed meanwhile
      if (receipt.state === "waiting") return this.#wait(value, group);
      this.#retry.stop();
      await this.#refresh();
      this.host.querySelector<HTMLElement>("#status")?.focus();
    } catch (error) {
      const trouble = troubleOf(error, this.#found?.survey);
      if (trouble.passing) this.#retry.later(() => void this.#draw(value, group));
      if (trouble.passing && this.#shown === WAITING) return;
      this.#trouble = trouble;
      this.#stop(trouble);
    } finally {
      this.#isDrawing = false;
    }
  }

  /** Another turn has come while the page was open: the question is asked anew, about that one. */
  async #askAgain(): Promise<void> {
    this.#shown = STOPPED;
    await this.#load();
    this.#say("Meanwhile that turn has passed. Nothing was drawn. It is your next turn now.");
  }

  /** The round of this device is not open yet: look again now and then, while the page is open. */
  #wait(value: unknown, group: unknown): void {
    this.#retry.later(() => void this.#draw(value, group));
    if (this.#shown === WAITING) return;
    this.#show(WAITING, waitingView(this.#found!.survey.title, this.machine.origin, () => this.#retry.now()));
    this.#say("Waiting for the question of this device.");
  }

  async #report(kept: Answer): Promise<void> {
    const sending = sendingOf(kept.state, this.machine.isReleased(kept), this.#isSending);
    const turn = this.#turn && `${this.#turn.receipt.after?.number} ${this.#turn.isRefusing}`;
    const view = this.#found === null ? "report" : `report with its picture ${turn ?? ""}`;
    const status = `${sending} ${this.#problem}`;
    if (view === this.#shown && status === this.#status) return;
    this.#status = status;
    const made = statusView(sending, kept.relay !== "", this.#problem, () => void this.#send(kept));
    const spoken = titleOf(sending, kept.relay !== "");
    const old = this.host.querySelector(".status");
    if (view === this.#shown && old !== null) {
      // Only this part changes: the picture stays, with whatever was opened or typed in it.
      const hadFocus = old.contains(document.activeElement);
      old.replaceWith(made);
      if (hadFocus) made.querySelector<HTMLElement>("button, h2")?.focus();
    } else {
      this.#show(view, await this.#reportView(kept, made));
      if (this.#isUnused(kept)) return this.#say(`${UNUSED} ${spoken}`);
    }
    this.#say(spoken);
  }

  /** Whether the person has chosen something here, and the report was drawn elsewhere all the same. */
  #isUnused(kept: Answer): boolean {
    return this.#hasChosen && !this.machine.hasDrawn(kept);
  }

  async #reportView(kept: Answer, status: HTMLElement): Promise<HTMLElement> {
    let survey: Survey | null = null;
    let explanation: Explanation | null = null;
    try {
      survey = await this.#answered(kept);
      if (survey) explanation = explain(survey, kept.report);
    } catch {
      // The report stands whether or not its picture can be drawn.
    }
    const { origin } = this.machine;
    const title = this.#found?.survey.title ?? kept.title;
    document.title = `${title || "A survey"} – Sottovoce`;
    const ledger = await this.machine.ledger();
    const value = this.machine.hasDrawn(kept) ? this.#value : null;
    const drawn = { kept, title, origin, ledger, survey, explanation, value, isUnused: this.#isUnused(kept) };
    const turn = this.#myTurn();
    return reportView(drawn, status, turn && turnAfter(turn), this.#found && who(this.#found, origin));
  }

  /** The survey that a report is of: for a round the round's, for a tracking survey the period's; null if unknown. */
  async #answered(kept: Answer): Promise<Survey | null> {
    const asked = this.#found?.survey ?? null;
    if (asked instanceof Tracking) {
      const number = this.#turn?.receipt.period?.number;
      const survey = number === undefined ? null : await asked.period(number);
      return survey && memberOf(survey, kept.survey);
    }
    if (asked instanceof Survey) return memberOf(asked, kept.survey);
    const survey = kept.survey === this.machine.id ? asked : (await this.machine.look(kept.survey)).survey;
    return survey instanceof Survey ? survey : null;
  }

  async #sendIfReleased(): Promise<void> {
    const kept = await this.machine.standing().catch(() => null);
    if (kept?.state === "unsent" && this.machine.isReleased(kept)) await this.#send(kept);
  }

  async #send(kept: Answer): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    this.#problem = "";
    await this.#report(kept);
    try {
      const receipt = await this.machine.send(kept);
      this.#problem = receipt.problem;
      if (receipt.state === "unsent") this.#retry.later(() => void this.#sendIfReleased());
      else this.#retry.stop();
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : "";
    }
    this.#isSending = false;
    await this.#refresh();
  }

  #stop(trouble: Trouble): void {
    const name = `${STOPPED} ${trouble.title}`;
    if (this.#shown === name) return;
    this.#show(name, troubleView(trouble, () => this.#retry.now()));
    this.#say(trouble.title);
  }

  #show(name: string, view: HTMLElement): void {
    const isFirst = this.#shown === "";
    this.#shown = name;
    fill(this.host, view);
    if (!isFirst) {
      scrollTo({ top: 0 });
      view.querySelector<HTMLElement>("[tabindex='-1']")?.focus({ preventScroll: true });
    }
  }

  #say(words: string): void {
    fill(this.told, el("span", {}, words));
  }
}

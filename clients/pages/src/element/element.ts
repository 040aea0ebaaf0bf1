/**
 * `<sottovoce-survey>`: a survey's question in any page. Importing this defines the element.
 *
 * It lives in a shadow tree with a style sheet that scripts adopt, so that no rule of the page reaches in, none leaks
 * out, and no Content-Security-Policy has to allow a style.
 */
import type { SottovoceSurveyElement, SurveyElementState } from "../../../js/src/element.js";
import { el, fill } from "../parts/dom.js";
import { Embedded } from "./embedded.js";
import STYLES from "./element.css";
import { setbackOf } from "./setback.js";
import { stoppedView } from "./views.js";
import { wantedBy } from "./wanted.js";

const NAME = "sottovoce-survey";

// On a server, where pages are made before any browser sees them, importing this does nothing.
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** Events that have no handler of their own on elements, or not in every browser that sends them. */
const WITHOUT_HANDLER = [
  ...["beforeinput", "textInput", "compositionstart", "compositionupdate", "compositionend", "focusin", "focusout"],
  ...["touchstart", "touchmove", "touchend", "touchcancel", "pointerrawupdate", "DOMActivate"],
];

/** Every event that this browser knows: a page's own listeners do not learn by accident what somebody answers here. */
function eventNames(): ReadonlySet<string> {
  const names = new Set(WITHOUT_HANDLER);
  for (const name in Base.prototype) if (name.startsWith("on")) names.add(name.slice(2));
  return names;
}

class SurveyElement extends Base implements SottovoceSurveyElement {
  static readonly observedAttributes = ["collector", "survey", "key", "relay", "lang", "group"];

  readonly #place = el("div", { part: "frame", lang: "en" });
  readonly #told = el("p", { class: "visually-hidden", role: "status", lang: "en" });
  #embedded: Embedded | null = null;
  #stopped: SurveyElementState = "loading";
  #isDue = false;
  /** Ends what listens to the page while the element is in it. */
  #away = new AbortController();

  constructor() {
    super();
    // Closed: the path of an event, and a script that finds the element, end at the element itself.
    const root = this.attachShadow({ mode: "closed" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLES);
    root.adoptedStyleSheets = [sheet];
    root.append(this.#place, this.#told);
    for (const name of eventNames()) root.addEventListener(name, (event) => event.stopPropagation(), { passive: true });
  }

  get collector(): string {
    return this.getAttribute("collector") ?? "";
  }

  set collector(value: string) {
    this.setAttribute("collector", value);
  }

  get survey(): string {
    return this.getAttribute("survey") ?? "";
  }

  set survey(value: string) {
    this.setAttribute("survey", value);
  }

  get key(): string {
    return this.getAttribute("key") ?? "";
  }

  set key(value: string) {
    this.setAttribute("key", value);
  }

  get relay(): string {
    return this.getAttribute("relay") ?? "";
  }

  set relay(value: string) {
    this.setAttribute("relay", value);
  }

  get group(): string {
    return this.getAttribute("group") ?? "";
  }

  set group(value: string) {
    this.setAttribute("group", value);
  }

  get state(): SurveyElementState {
    return this.#embedded?.state ?? this.#stopped;
  }

  connectedCallback(): void {
    this.#away = new AbortController();
    const { signal } = this.#away;
    // What a page shows is gone when it is left: browsers may keep it as it was, for a person who presses Back.
    addEventListener("pagehide", () => this.#end(), { signal });
    addEventListener("pageshow", (event) => event.persisted && this.#begin(), { signal });
    this.#begin();
  }

  disconnectedCallback(): void {
    this.#away.abort();
    this.#end();
  }

  attributeChangedCallback(_name: string, before: string | null, now: string | null): void {
    if (this.isConnected && before !== now) this.#begin();
  }

  #end(): void {
    this.#embedded?.end();
    this.#embedded = null;
    this.#stopped = "loading";
    fill(this.#place);
  }

  /** Anew, once all attributes that change together have changed. */
  #begin(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      if (this.isConnected) this.#start();
    });
  }

  #start(): void {
    this.#end();
    this.#place.setAttribute("aria-busy", "true");
    fill(this.#place, el("p", { class: "quiet" }, "Fetching the survey and checking who signed it …"));
    const tell = (name: string, detail: object) =>
      void this.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, detail }));
    try {
      this.#embedded = new Embedded(this.#place, this.#told, wantedBy((name) => this.getAttribute(name)), tell);
      void this.#embedded.start();
    } catch (error) {
      const setback = setbackOf(error, { url: this.collector, name: this.survey });
      this.#stopped = "stopped";
      this.#place.removeAttribute("aria-busy");
      fill(this.#place, stoppedView(setback, null, ""));
      console.error(`<${NAME}> ${setback.code}: ${setback.remedy}`);
      tell("sottovoce-error", { survey: this.survey, code: setback.code, message: setback.remedy });
    }
  }
}

// A page may bring two copies; the first stays.
if ("customElements" in globalThis && !customElements.get(NAME)) customElements.define(NAME, SurveyElement);

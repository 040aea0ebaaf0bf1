/** All surveys of the collector, with their counts as they grow. */
import { ask } from "../../parts/api.js";
import type { QuestionEntry, SignedIn, Status, SurveyEntry, Surveys } from "../../parts/api_types.js";
import { el, fill } from "../../parts/dom.js";
import { count, counted } from "../../parts/format.js";
import { allows, type ViewContext } from "../../parts/session.js";
import { sentence, troublePlace } from "../../parts/trouble.js";
import { askDeclared } from "../../questions/declared.js";
import { kindName, kindPicture, KINDS } from "../../questions/kinds.js";
import { type Card, cardOf } from "./card.js";
import { count as keepCounting } from "./counting.js";
import { allSurveys, type ListFilter, matching, totals } from "./entries.js";

const LOOK_AGAIN = 10_000;
/** How many cards are made at once; the others wait behind a button. */
const AT_ONCE = 60;
/** From how many surveys on there is something to search in. */
const MANY = 7;

export async function showSurveys(page: HTMLElement, { session }: ViewContext): Promise<void> {
  let entries: SurveyEntry[] = [];
  let listed = "";
  let shown = AT_ONCE;
  const cards = new Map<string, Card>();
  const counts = new Map<string, Status>();
  const inSight = new Set<string>();
  const sight = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      const id = (target as HTMLElement).dataset["id"] ?? "";
      if (isIntersecting) inSight.add(id);
      else inSight.delete(id);
    }
  });

  const sums = el("dl", { class: "sums" });
  const search = filters(() => {
    shown = AT_ONCE;
    show();
  });
  const list = el("ul", { class: "survey-cards" });
  const rest = el("div", { class: "rest" });
  const { place, tell } = troublePlace();

  function cardFor(entry: SurveyEntry): HTMLLIElement {
    let card = cards.get(entry.id);
    if (card === undefined) {
      card = cardOf(entry);
      cards.set(entry.id, card);
      const status = counts.get(entry.id);
      if (status !== undefined) card.update(status);
      sight.observe(card.element);
    }
    return card.element;
  }

  /** The survey is in another state now: it gets a new card. */
  function forget(id: string): void {
    const card = cards.get(id);
    if (card !== undefined) sight.unobserve(card.element);
    cards.delete(id);
  }

  function show(): void {
    const found = matching(entries, search.wanted());
    search.element.hidden = entries.length < MANY;
    search.offer(entries.map(({ kind }) => kind));
    search.say(found.length === entries.length ? "" : `${count(found.length)} of ${counted(entries.length, "survey")}`);
    fill(list, ...found.slice(0, shown).map(cardFor));
    const left = found.length - shown;
    fill(
      rest,
      left > 0 &&
        el(
          "button",
          { type: "button", class: "plain", onclick: showMore },
          `Show ${count(Math.min(left, AT_ONCE))} more of ${count(left)}`,
        ),
    );
    showSums();
  }

  function showMore(): void {
    const first = shown;
    shown += AT_ONCE;
    show();
    list.children[first]?.querySelector("a")?.focus();
  }

  function showSums(): void {
    const { surveys, open, reports, told } = totals(entries, counts);
    const sum = (name: string, value: string): HTMLElement =>
      el("div", {}, el("dt", {}, name), el("dd", { class: "figures" }, value));
    fill(
      sums,
      sum(surveys === 1 ? "survey" : "surveys", count(surveys)),
      sum("open", count(open)),
      sum(told < surveys ? `reports in ${count(told)} of them` : "reports", count(reports)),
    );
  }

  async function look(): Promise<void> {
    const surveys = await allSurveys((path) => ask<Surveys>(path));
    if (JSON.stringify(surveys) === listed) return;
    const questions = surveys.length === 0 ? (await askDeclared()).questions : [];
    listed = JSON.stringify(surveys);
    const before = new Map(entries.map(({ id, state }) => [id, state]));
    entries = surveys.reverse();
    for (const { id, state } of entries) if (before.get(id) !== state) forget(id);
    if (entries.length === 0) fill(page, place, emptyList(session, questions));
    else if (!list.isConnected) lay();
    show();
  }

  function lay(): void {
    const make = allows(session, "publish") && el("a", { class: "button", href: "/new" }, "New survey");
    fill(
      page,
      el("div", { class: "page-head" }, el("h1", {}, "Surveys"), make),
      place,
      sums,
      search.element,
      list,
      rest,
    );
  }

  await look();
  const stop = keepCounting({
    ids: () => entries.map(({ id }) => id),
    inSight: (id) => inSight.has(id),
    onCount: (status) => {
      counts.set(status.id, status);
      cards.get(status.id)?.update(status);
      showSums();
    },
    onTrouble: tell,
  });
  const again = setInterval(() => {
    if (!page.isConnected) {
      clearInterval(again);
      return stop();
    }
    if (!document.hidden) look().then(() => entries.length > 0 || tell(null), tell);
  }, LOOK_AGAIN);
}

// Searching a long list: words of the title, open or sealed, which kind.

interface Filters {
  element: HTMLElement;
  wanted: () => ListFilter;
  /** Let people choose these kinds too: of another package's surveys. */
  offer: (kinds: Iterable<string>) => void;
  /** How much of the list is left, for eyes and screen readers. */
  say: (text: string) => void;
}

function filters(onChange: () => void): Filters {
  const text = el("input", {
    type: "search",
    placeholder: "Search titles",
    "aria-label": "Search titles",
    oninput: onChange,
  });
  const state = choice("State", { all: "every state", open: "open", sealed: "sealed" }, onChange);
  const kinds = KINDS.map((kind) => [kind, kindName(kind)]);
  const kind = choice("Kind", { all: "every kind", ...Object.fromEntries(kinds) }, onChange);
  const said = el("p", { class: "quiet", role: "status" });
  return {
    element: el("div", { class: "filters", role: "search" }, text, state, kind, said),
    wanted: () => ({ text: text.value, state: state.value, kind: kind.value }),
    offer(others) {
      const known = new Set([...kind.options].map(({ value }) => value));
      kind.append(...[...new Set(others)].filter((one) => !known.has(one)).map((one) => el("option", { value: one }, kindName(one))));
    },
    say: (words) => fill(said, words),
  };
}

function choice(label: string, options: Record<string, string>, onchange: () => void): HTMLSelectElement {
  const made = Object.entries(options).map(([value, text]) => el("option", { value }, text));
  return el("select", { "aria-label": label, onchange }, ...made);
}

// What a collector without surveys shows: what can be asked, and how to make the first survey.

function emptyList(session: SignedIn, questions: readonly QuestionEntry[]): HTMLElement {
  return el(
    "section",
    { class: "empty" },
    el("h1", {}, "No survey yet"),
    el(
      "p",
      { class: "lead" },
      "Every device randomizes its report before it sends it, so that a report says little about its sender. " +
        "Many reports together give accurate statistics.",
    ),
    el(
      "ul",
      { class: "kinds-told" },
      ...questions.map(({ kind, summary }) =>
        el("li", { class: "card" }, kindPicture(kind), el("h2", {}, kindName(kind)), el("p", { class: "quiet" }, sentence(summary))),
      ),
    ),
    allows(session, "publish")
      ? el("p", {}, el("a", { class: "button", href: "/new" }, "Make the first survey"))
      : el("p", {}, "Your token cannot publish. A survey that somebody else publishes appears here by itself."),
    el("p", { class: "quiet" }, "Or on the command line:"),
    el("pre", {}, 'sottovoce survey create shares --labels red,green,blue --epsilon 1 --title "Favourite colour"'),
  );
}

/** A report that was drawn: what stays, what leaves, how little it tells, and whether it has been sent. */
import type { Explanation } from "../../../js/src/explain.js";
import type { Answer, Ledger, Survey } from "../../../js/src/index.js";
import { el, svg } from "../parts/dom.js";
import { counted, named } from "../parts/format.js";
import { reportBytes, requestBytes, TAG_BYTES } from "./bytes_view.js";
import { plain } from "./fields/values.js";
import { kindOf } from "./kinds/registry.js";
import { ledgerView } from "./ledger_view.js";
import { likelihood } from "./likelihood.js";
import { heading, meaning, relayed } from "./promise_view.js";
import { UNUSED } from "./words.js";

const LIKELY = "How likely these very bytes would have been, had somebody answered otherwise:";
const MISSING = "The survey cannot be had just now, so the picture is missing. The report stands all the same.";

/** What is known of the report that stands. */
interface DrawnReport {
  readonly kept: Answer;
  readonly title: string;
  readonly origin: string;
  readonly ledger: Ledger;
  /** The survey that the report is of, for a round the round's; null while it cannot be had. */
  readonly survey: Survey | null;
  readonly explanation: Explanation | null;
  /** The answer that it was drawn from, while this page remembers it; null after a reload, and in another tab. */
  readonly value: unknown;
  /** Whether the person has chosen an answer on this page that it was not drawn from. */
  readonly isUnused: boolean;
}

/** The whole view; `status` is what tells and changes whether it was sent, `after` what follows of a survey that renews. */
export function reportView(
  drawn: DrawnReport,
  status: HTMLElement,
  after: HTMLElement | null,
  details: HTMLElement | null,
): HTMLElement {
  const { kept, survey, explanation, ledger } = drawn;
  return el(
    "div",
    { class: "view" },
    heading(drawn.title, drawn.origin),
    kept.period !== "" && el("p", { class: "lead" }, `About ${named(kept.period)}.`),
    drawn.isUnused && el("p", { class: "card unused" }, UNUSED),
    status,
    el("div", { class: "zones" }, stays(drawn), edge(), leaves(drawn)),
    el(
      "section",
      { class: "card", "aria-labelledby": "likely" },
      el("h2", { id: "likely" }, "How little that tells"),
      el("p", { class: "quiet" }, survey && explanation ? LIKELY : MISSING),
      survey && explanation && likelihood(survey, explanation, drawn.value),
    ),
    el(
      "section",
      { class: "card", "aria-labelledby": "ledger" },
      el("h2", { id: "ledger" }, "Your ledger"),
      ledgerView(ledger, kept.epsilon, true),
      meaning(kept.epsilon),
      relayed(survey?.relay ?? null, drawn.origin),
    ),
    after,
    details,
  );
}

function stays({ value, survey }: DrawnReport): HTMLElement {
  const known = value !== null && survey !== null;
  return el(
    "section",
    { class: "zone stays", "aria-labelledby": "stays" },
    el("h2", { id: "stays" }, "Stays here"),
    known
      ? el("p", { class: "answer", dir: "auto" }, kindOf(survey).text(value))
      : el("p", { class: "answer forgotten" }, "your answer"),
    el(
      "p",
      { class: "quiet small" },
      known
        ? "Your answer. This page forgets it as soon as you leave, and the ledger does not hold it."
        : "Not even this page knows it: it was never written down.",
    ),
  );
}

/** The edge of the machine, between what stays and what leaves. */
function edge(): HTMLElement {
  return el(
    "div",
    { class: "edge", "aria-hidden": "true" },
    svg("svg", { viewBox: "0 0 24 24", width: 28, height: 28 }, svg("path", { d: "M4 12h14m-5-5 5 5-5 5" })),
  );
}

function leaves({ kept, explanation, survey }: DrawnReport): HTMLElement {
  const size = counted(kept.report.length - TAG_BYTES, "byte");
  const query = survey?.seat ? queryText(survey.seat.query) : "";
  const how = survey && explanation ? kindOf(survey).drawn(explanation) : "";
  return el(
    "section",
    { class: "zone leaves", "aria-labelledby": "leaves" },
    el("h2", { id: "leaves" }, "Leaves", el("span", { class: "quiet size" }, size)),
    query !== "" && el("p", { class: "small" }, "The question drawn for this device: ", el("b", {}, plain(query))),
    explanation && el("p", {}, plain(explanation.words.slice(0, 2).join(" "))),
    how !== "" && el("p", {}, plain(how)),
    reportBytes(kept),
    requestBytes(kept),
  );
}

// The question of a round, which travels as a tree, as text that people can read.

const INFIX = new Set(["+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "==", "!=", "and", "or"]);
const SIGNS: Readonly<Record<string, string>> = { "==": "=", "!=": "≠", "<=": "≤", ">=": "≥", "*": "×", "-": "−" };
const MOST_LISTED = 8;

/** An expression's tree as text. The tree was checked when its round was read. */
export function queryText(tree: unknown, outermost = true): string {
  if (!Array.isArray(tree)) return typeof tree === "string" ? `“${tree}”` : String(tree).replace("-", "−");
  const [name, ...parts] = tree as [string, ...unknown[]];
  const inner = (part: unknown) => queryText(part, false);
  const whole = (text: string) => (outermost ? text : `(${text})`);
  if (name === "attribute" || name === "integer") return String(parts[0]);
  if (INFIX.has(name)) return whole(parts.map(inner).join(` ${SIGNS[name] ?? name} `));
  if (name === "neg") return `−${inner(parts[0])}`;
  if (name === "not") return whole(`not ${inner(parts[0])}`);
  if (name === "if") return whole(`if ${inner(parts[0])} then ${inner(parts[1])} else ${inner(parts[2])}`);
  if (name === "in") return whole(`${inner(parts[0])} is one of ${listed(parts[1])}`);
  if (name === "find") return whole(`which of ${listed(parts[1])} ${inner(parts[0])} is`);
  if (name === "table" || name === "sparse") return "a table with a number for every record";
  return `${name}(${parts.map((part) => queryText(part)).join(", ")})`;
}

function listed(part: unknown): string {
  const members = part as readonly unknown[];
  const shown = members.slice(0, MOST_LISTED).map((member) => queryText(member, false));
  return shown.join(", ") + (members.length > MOST_LISTED ? `, … (${members.length} in all)` : "");
}

/** A query's text, coloured by what its symbols are, and with the place marked that was found wrong. */
import { el } from "../../parts/dom.js";

/** The text as code; `wrong` is where the symbol begins that is to be marked. */
export function queryText(text: string, wrong?: number): HTMLElement {
  let at = 0;
  const parts = tokens(text).map((token) => {
    const marked = wrong !== undefined && wrong >= at && wrong < at + token.text.length;
    at += token.text.length;
    return el(marked ? "mark" : "span", { class: `token ${token.kind}` }, token.text);
  });
  return el("code", { class: "query" }, ...parts);
}

// The symbols of a query's text: enough to colour it, and to know what may follow. The collector alone says what is right.

type TokenKind = "space" | "text" | "number" | "word" | "name" | "call" | "sign";

interface Token {
  kind: TokenKind;
  text: string;
}

const SYMBOL = new RegExp(
  [
    /(?<space>\s+)/u,
    /(?<text>'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?)/u,
    /(?<number>\d[\w.]*|\.\d[\w]*)/u,
    /(?<name>[\p{XID_Start}_]\p{XID_Continue}*)/u,
    /(?<sign><=|>=|==|!=|\/\/|.)/u,
  ]
    .map((part) => part.source)
    .join("|"),
  "gsu",
);

const WORDS = new Set(["and", "or", "not", "in", "if", "else", "True", "False"]);

/** All symbols of a text; put together again they are the text. */
export function tokens(text: string): Token[] {
  return [...text.matchAll(SYMBOL)].map((found) => {
    const [kind, symbol] = Object.entries(found.groups ?? {}).find(([, part]) => part !== undefined) as [TokenKind, string];
    if (kind !== "name") return { kind, text: symbol };
    if (WORDS.has(symbol)) return { kind: "word", text: symbol };
    const called = /^\s*\(/.test(text.slice(found.index + symbol.length));
    return { kind: called ? "call" : "name", text: symbol };
  });
}

/** What stands before the cursor asks for next: a whole condition, a value to compare with, or something to join them. */
type NextToken = "condition" | "value" | "joint";

/** What may follow a text, and the attribute that was named last, if nothing stands after it. */
export function wanted(before: string): { wants: NextToken; name: string | null } {
  const last = tokens(before).filter((token) => token.kind !== "space").at(-1);
  if (last === undefined) return { wants: "condition", name: null };
  if (last.kind === "name") return { wants: "joint", name: last.text };
  if (last.kind === "text" || last.kind === "number" || last.text === "True" || last.text === "False") {
    return { wants: "joint", name: null };
  }
  if (last.kind === "word") return { wants: last.text === "in" ? "value" : "condition", name: null };
  if (last.kind === "sign" && ")]}".includes(last.text)) return { wants: "joint", name: null };
  const open = /\bin\s*[([{][^)\]}]*$/u.test(before) || /\bfind\s*\([^()]*,\s*[([{]?[^)\]}]*$/u.test(before);
  if (last.kind === "sign" && "([{,".includes(last.text)) return { wants: open ? "value" : "condition", name: null };
  return { wants: "value", name: null };
}

/** Where in a text the collector's words point: they count whole characters from 1. Null where they name no column. */
export function placeOf(message: string, text: string): number | null {
  const found = /\bcolumn (\d+)/u.exec(message);
  return found === null ? null : [...text].slice(0, Number(found[1]) - 1).join("").length;
}

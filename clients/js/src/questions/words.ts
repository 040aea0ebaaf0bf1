/** Words: which words, byte strings or integers do people have? Nobody lists them beforehand. */
import { checkFields, type JsonObject } from "../core/json.js";
import { prefixes } from "../strategies/prefixes.js";
import type { Spelling, WordCode } from "../domain/word_code.js";
import { readCode } from "../domain/word_codes.js";
import type { Question, Values } from "./question.js";

const STRATEGIES = new Map([["prefixes", prefixes]]);

export class Words implements Question<WordCode, Uint8Array>, Values {
  readonly kind = "words";
  readonly asks = "word";
  readonly domain = null;
  readonly strategies = STRATEGIES;
  readonly code: WordCode;

  constructor(stated: JsonObject) {
    this.code = readCode(checkFields(stated, "words", "kind", "code").code);
  }

  get values(): Values {
    return this;
  }

  get workload(): WordCode {
    return this.code;
  }

  get allowed(): string {
    return `${this.code.allowed}; everything else is counted as other`;
  }

  /** Everything: a refusal would tell something. */
  has(): boolean {
    return true;
  }

  /** The value's code; that of "other" for anything that is not a word. */
  read(value: unknown): Uint8Array {
    return this.code.row(value);
  }

  /** How a text that a person types will be counted, and what to answer with: to be shown before anything is drawn. */
  spelling(typed: string): Spelling {
    return this.code.spelling(typed);
  }
}

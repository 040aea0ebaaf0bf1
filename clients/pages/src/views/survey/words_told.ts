/** What is said of words that were found: those that are certain, and apart from them those that may be chance. */
import type { AnswerRow, Findable, Picture, WordsFound } from "../../parts/api_types.js";
import { count, counted, figure, percent } from "../../parts/format.js";
import { sentence } from "../../parts/trouble.js";

/** Most words of one picture; the files hold all. */
export const MOST_WORDS = 60;

/** Words that are all certain, or all not, by their positions in the picture. */
export interface WordsPanel {
  view: "words";
  title: string;
  start: number;
  stop: number;
  shares: true;
  certain: boolean;
  places: number[];
  note: string;
}

/** A picture of the certain words and one of the others; a kind without words has none. The collector sends the largest first. */
export function wordPanels(certain: readonly boolean[], told: WordsFound | undefined): WordsPanel[] {
  return [true, false].flatMap((isCertain) => {
    const all = certain.flatMap((one, at) => (one === isCertain ? [at] : []));
    if (all.length === 0) return [];
    const title = isCertain ? "words that people have" : "words that may be chance";
    const left = all.length > MOST_WORDS ? ` The ${MOST_WORDS} largest of ${count(all.length)} are drawn; the files hold all.` : "";
    const note = (isCertain ? certainNote(told) : doubtfulNote(told)) + left;
    return [{ view: "words", title, start: 0, stop: all.length, shares: true, certain: isCertain, places: all.slice(0, MOST_WORDS), note }];
  });
}

const certainNote = (told: WordsFound | undefined): string =>
  told === undefined ? "" : `The probability that any of these is nobody’s word is at most ${percent(told.false_discovery)}.`;

function doubtfulNote(told: WordsFound | undefined): string {
  const expected = told === undefined ? "" : ` Chance alone lists about ${figure(told.expected_doubtful)} words here.`;
  return `Not certain yet: each may be chance.${expected} More reports tell them apart.`;
}

/** How the list stands, in a sentence. */
export function listWords(certain: readonly boolean[]): string {
  const sure = certain.filter(Boolean).length;
  if (certain.length === 0) return "No word stands out yet. Words appear here by themselves as reports tell them from chance.";
  const doubtful = certain.length - sure;
  return `${sure === 0 ? "No word is certain yet" : `${counted(sure, "word")} ${sure === 1 ? "is" : "are"} certain`}${doubtful > 0 ? `; ${count(doubtful)} more may be chance` : ""}.`;
}

/** A name, a figure and a sentence. */
type Fact = [string, string, string];

/** Figure and sentence of everything that a list of words says besides the words. */
export function wordFacts({ words, level, findable }: Picture): Fact[] {
  if (words === undefined) return [];
  const { other, hostile_devices: hostile, cut } = words;
  return [
    ...(findable === null || findable.length === 0 ? [] : [findableFact(findable)]),
    ...(other === null ? [] : [["Other", percent(other.value), `${between(other, level)} People whose answer is not a word of this survey: too long, left out, or of other characters.`] satisfies Fact]),
    hostileFact(hostile),
    ...(cut ? [["Left out", "some", "More beginnings of words stood out than the search keeps, so that a rarer word may be missing."] satisfies Fact] : []),
  ];
}

/** What is not known yet: the shares below which words are missed more often than one time in ten. */
function findableFact(findable: readonly Findable[]): Fact {
  const shares = findable.map(({ share }) => share);
  const [least, most] = [Math.min(...shares), Math.max(...shares)];
  if (least >= 1) return ["Not found yet", "any word", "There are too few reports to find even a word that everybody has."];
  const by = findable.length === 1 || findable[0]!.length === null ? "" : ` By length: ${findable.map(({ length, share }) => `up to ${length}, ${share >= 1 ? "none yet" : percent(share)}`).join("; ")}.`;
  const range = least === most || most >= 1 ? percent(least) : `${percent(least)} to ${percent(most)}`;
  return ["Not found yet", `below about ${range}`, `A word of that share of the people is found 9 times in 10 with the reports there are; rarer ones may be missing.${by}`];
}

/** How many devices that lie can put a word of their own on the list. */
function hostileFact({ shortest, longest, statement }: WordsFound["hostile_devices"]): Fact {
  const known = [shortest.devices, longest.devices].flatMap((one) => (one === null ? [] : [one])).sort((a, b) => a - b);
  const [least, most] = [known[0], known.at(-1)];
  const figure = least === undefined || most === undefined ? "no list yet" : least === most ? counted(least, "device") : `${count(least)} to ${counted(most, "device")}`;
  return ["Malicious devices", figure, sentence(statement)];
}

/** Three digits of an interval of shares, within what shares can be. */
const between = ({ low, high }: Pick<AnswerRow, "low" | "high">, level: number): string =>
  low === null || high === null ? "" : `${percent(level)} interval: ${percent(Math.max(0, low))} to ${percent(Math.min(1, Math.max(0, high)))}.`;

/** What is said of one word that was asked for. */
export const shareWords = (row: AnswerRow, level: number, listed = false): string =>
  `${between(row, level)}${(row.low ?? 0) > 0 ? "" : " It may be a word that nobody has."}${listed ? " It is on the list above: quote the interval from there, unless you had this word in mind before." : ""}`;

/** What a kind is called on pages: run `npm run types` in clients/pages to write this file again. */
export const KIND_NAMES: Readonly<Record<string, string>> = {
  shares: "One of a list",
  queries: "Your own queries",
  vector: "A list of numbers",
  choices: "Tick all that apply",
  number: "A number",
  records: "A form",
  relation: "How things are related",
  words: "In their own words",
  tracking: "Every week or month",
  panel: "One question after another",
};

/** Statements of surveys and panels, put together by hand; `more` changes or adds fields. */

type Fields = { [field: string]: unknown };

export const range = (size: number) => ({ size, start: 0, step: 1 });

const survey = (question: Fields, strategy: unknown, mechanism: Fields, more: Fields) => ({
  delta: 0,
  design: { mechanism, strategy },
  epsilon: 1,
  format: 2,
  question,
  title: "",
  ...more,
});

export const shares = (domain: Fields, mechanism: Fields, more: Fields = {}) =>
  survey({ domain, kind: "shares" }, "histogram", mechanism, more);

export const queries = (workload: Fields, mechanism: Fields, strategy = mechanism.name, more: Fields = {}) =>
  survey({ kind: "queries", workload }, strategy, mechanism, more);

export const vector = (dimension: number, radius: number, mechanism: Fields, more: Fields = {}) =>
  survey({ dimension, kind: "vector", radius }, "direct", mechanism, more);

export const words = (code: Fields, hashes: Fields, more: Fields = {}) =>
  survey({ code, kind: "words" }, "prefixes", { name: "hashed_prefixes", ...hashes }, more);

export const panel = (domain: Fields, rounds: number, more: Fields = {}) => ({
  epsilon: 1,
  format: 2,
  panel: { domain, radius: 1, rounds },
  title: "",
  ...more,
});

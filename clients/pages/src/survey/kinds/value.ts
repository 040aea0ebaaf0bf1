/** One value of a domain: of a survey about shares or queries, of a panel's records, and of a round of it. */
import { type Domain, LabelDomain } from "../../../../js/src/domain/domain.js";
import { type Asked, Panel } from "../../../../js/src/index.js";
import { count } from "../../parts/format.js";
import { domainField } from "../fields/domain_field.js";
import { labelAt, valueAt } from "../fields/values.js";
import { type Kind, NEAREST, TRUTH, viewOf } from "./kind.js";

export function valueKind(survey: Asked, domain: Domain): Kind<unknown> {
  // Yes and no are not near each other.
  const isEitherOr = domain instanceof LabelDomain && domain.names.length <= 2;
  return {
    size: domain.size,
    words: [TRUTH, learnt(survey)],
    unfitting: isEitherOr ? "" : NEAREST,
    field: (legend, id) => domainField(domain, legend, id),
    text: (value) => labelAt(domain, domain.index(value)),
    drawn: () => "",
    examples(_found, mine) {
      const view = viewOf(domain.size);
      if (view === null) return [];
      const own = mine === null ? -1 : Number(domain.find(mine));
      const label = (i: number) => labelAt(domain, BigInt(i));
      return [{ view, about: "", size: Number(domain.size), own, label, value: (i) => valueAt(domain, BigInt(i)) }];
    },
  };
}

function learnt(survey: Asked): string {
  if (survey instanceof Panel) {
    const rounds = survey.rounds === 1 ? "One question" : `Up to ${count(survey.rounds)} questions`;
    const lot = survey.rounds === 1 ? "" : ", and everybody answers only one of them, drawn by lot on their own device";
    return `${rounds} will be put to it${lot}. The collector learns roughly how everybody together answers.`;
  }
  const { question, statement } = survey;
  if (question.domain === null) return "The collector learns roughly the average over everybody, and not who gave what.";
  const { asked_as: plain, ...own } = statement.question as { workload?: unknown; asked_as?: { workload?: unknown } };
  const { workload } = plain ?? own;
  if (workload !== undefined) return `The collector learns, roughly and for everybody together, ${ofWorkload(workload)}.`;
  return "The collector learns about how many people give each answer, and not who gave which.";
}

const WORKLOADS: Readonly<Record<string, string>> = {
  identity: "what share each answer has",
  prefix: "what share lies at or below each value",
  ranges: "what share lies in each range of values",
  bins: "what share lies in each of some bins",
  marginals: "how some of the attributes go together",
  parities: "how some of the attributes go together",
};

function ofWorkload(workload: unknown): string {
  const type = (workload as { type?: unknown } | null)?.type;
  return WORKLOADS[String(type)] ?? "a set of averages";
}

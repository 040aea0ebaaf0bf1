/** Relation: how an outcome depends on other fields of a record, as a line through people's numbers. */
import { SurveyError } from "../core/errors.js";
import { checkFields, type JsonObject } from "../core/json.js";
import { type Domain, RangeDomain } from "../domain/domain.js";
import { NUMBER, RecordFeatures } from "../domain/features.js";
import { NumberGrid } from "../domain/number.js";
import { products } from "../strategies/products.js";
import { FormQuestion, readField, readFields } from "./form.js";
import type { Question } from "./question.js";

const STRATEGIES = new Map([["products", products]]);
/** Grid points of a number: its two ends. A device computes with the positions between them. */
const ENDS = 2;

export class Relation extends FormQuestion implements Question<RecordFeatures, readonly number[]> {
  readonly kind = "relation";
  readonly strategies = STRATEGIES;
  readonly workload: RecordFeatures;

  constructor(stated: JsonObject) {
    const { regressors, outcome } = checkFields(stated, "a relation", "kind", "regressors", "outcome");
    super([...readFields(regressors), readField(outcome)]);
    const attributes = this.fields.map(([name, field]) => {
      const isNumber = field instanceof NumberGrid;
      if (field instanceof RangeDomain || (isNumber && field.points !== ENDS)) {
        throw new SurveyError("a relation's numbers and ranges must be numbers with their two ends as grid points");
      }
      return { name, size: isNumber ? NUMBER : Number(field.size), label: (value: number) => (field as Domain).label(value) };
    });
    const { name, size } = attributes.at(-1)!;
    if (size !== NUMBER && size !== 2) throw new SurveyError(`the outcome ${name} must be a number, or a list of two values`);
    this.workload = new RecordFeatures(attributes);
  }

  get learned(): string {
    const names = this.fields.map(([name]) => name.replaceAll("_", " "));
    return `how ${names.pop()} depends on ${names.join(" and ")}, as a line through all answers`;
  }
}

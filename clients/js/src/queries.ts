/** Surveys of kind "queries": what are the mean answers to a set of linear queries, fixed beforehand? */
import { fromHex } from "./bytes.js";
import { SurveyError } from "./errors.js";
import { isObject } from "./json.js";
import { checkFields, type Reader } from "./kind.js";
import { checkDelta, checkEpsilon } from "./limits.js";
import { keyOf } from "./philox.js";
import { ATTACHED, STRATEGIES } from "./strategies/registry.js";
import { readWorkload } from "./workloads/read.js";

export const readQueries: Reader = async (statement, { id, attachments }) => {
  const stated = "strategy" in statement;
  checkFields(statement, "mechanism", "workload", "delta", ...(stated ? ["strategy"] : []));
  const { name, digest, ...more } = stated && isObject(statement.strategy) ? statement.strategy : { name: "direct" };
  const read = STRATEGIES.get(name as string);
  const attached = ATTACHED.includes(name as string);
  const whole = Object.keys(more).length === 0 && attached === (typeof digest === "string");
  if (!read || stated === (name === "direct") || !whole) {
    const known = [...STRATEGIES.keys()].slice(1).join(", ");
    throw new SurveyError(`a strategy must hold its name, one of ${known}, and a digest if it has an attachment`);
  }
  const attachment = attached ? attachments[digest as string] : new Uint8Array();
  if (!(attachment instanceof Uint8Array)) throw new SurveyError("the survey needs an attachment that is not here");
  const workload = readWorkload(statement.workload);
  const [epsilon, delta] = [checkEpsilon(statement.epsilon), checkDelta(statement.delta)];
  const survey = { workload, epsilon, delta, mechanism: statement.mechanism, key: keyOf(fromHex(id)) };
  const { mechanism, input, digest: found } = await read(survey, attachment);
  if (found !== digest) throw new SurveyError("the attachment is not the one that the survey names: fetch it again");
  return { mechanism, delta, domain: workload.domain, input: (value) => input(workload.domain.index(value)) };
};

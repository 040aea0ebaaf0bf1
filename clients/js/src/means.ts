/** Surveys of kind "mean": what is the mean of everybody's vector? */
import { fromHex } from "./bytes.js";
import { checkFields, type Reader } from "./kind.js";
import { checkDelta, checkDimension, checkEpsilon, checkRadius } from "./limits.js";
import { readVectorMechanism } from "./mechanisms/vector_registry.js";
import { keyOf } from "./philox.js";

export const readMean: Reader = async (statement, context) => {
  checkFields(statement, "mechanism", "dimension", "radius", "delta");
  const delta = checkDelta(statement.delta);
  const mechanism = readVectorMechanism(statement.mechanism, {
    dimension: checkDimension(statement.dimension),
    radius: checkRadius(statement.radius),
    epsilon: checkEpsilon(statement.epsilon),
    delta,
    key: keyOf(fromHex(context.id)),
  });
  // Any vector of the right length: the mechanism clips it, for a refusal would be an answer too.
  return { mechanism, delta, domain: null, input: (value) => value };
};

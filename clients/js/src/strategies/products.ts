/** Products: a device answers one product of its record's features, drawn in public, as a number. */
import type { RecordFeatures } from "../domain/features.js";
import { SurveyError } from "../core/errors.js";
import { parametersOf } from "../mechanisms/base/stated.js";
import { readChannel } from "../mechanisms/matrix_channel.js";
import { makeProducts } from "../mechanisms/products.js";
import { estimatesOfReports } from "./minimax.js";
import type { StrategyKind } from "./strategy.js";

export const products: StrategyKind<RecordFeatures, readonly number[]> = {
  isAttached: true,
  async make(features, { epsilon, delta }, stated, attachment) {
    const { weights } = parametersOf(stated, "products", ["weights"]);
    if (delta !== 0) throw new SurveyError("this strategy needs delta 0");
    const { digest, mechanism: channel } = await readChannel(attachment, null, epsilon, estimatesOfReports);
    return { digest, mechanism: makeProducts(features, channel, weights), input: (record) => record };
  },
};

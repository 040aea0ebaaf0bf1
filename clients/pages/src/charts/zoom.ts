/** New numbers for a plot that may be zoomed in: the part that is looked at stays in view. */
import type uPlot from "uplot";

export function refill(plot: uPlot, data: uPlot.AlignedData): void {
  const { min, max } = plot.scales["x"] ?? {};
  const [before, after] = [plot.data[0], data[0]] as [ArrayLike<number>, ArrayLike<number>];
  const first = before[0];
  const last = before[before.length - 1];
  const known = min !== undefined && max !== undefined && first !== undefined && last !== undefined;
  const zoomed = known && (min > first || max < last);
  if (zoomed && min <= (after[after.length - 1] ?? -Infinity) && max >= (after[0] ?? Infinity)) {
    plot.setData(data, false);
    plot.setScale("x", { min, max });
  } else plot.setData(data);
}

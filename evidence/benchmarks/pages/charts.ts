/** Charts that take up new data as they do on the dashboard while reports arrive; each update lies between two marks. */
import { bars } from "../../clients/pages/src/charts/bars.js";
import { lines } from "../../clients/pages/src/charts/lines.js";

const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));

function host(): HTMLElement {
  const made = document.createElement("div");
  made.style.width = "1200px";
  document.body.replaceChildren(made);
  return made;
}

/** Makes so many updates; whoever records a trace of the page finds in it what each took. */
async function updates<Data>(
  make: (host: HTMLElement, data: Data) => { update(data: Data): void },
  fresh: () => Data,
  times: number,
): Promise<void> {
  const all = Array.from({ length: times }, fresh);
  const chart = make(host(), fresh());
  for (let i = 0; i < 5; i++) await frame();
  for (const data of all) {
    performance.mark("update begins");
    chart.update(data);
    // Drawing may be put off until the next frame, and its end until the one after.
    await frame();
    await frame();
    performance.mark("update ends");
  }
}

function estimate(n: number) {
  const value = Array.from({ length: n }, () => Math.random() / n);
  return {
    labels: Array.from({ length: n }, (_, i) => `answer ${i}`),
    value,
    raw: value.map((share) => share - 0.1 / n),
    low: value.map((share) => share * 0.8),
    high: value.map((share) => share * 1.2),
    order: "value" as const,
    show: "both" as const,
  };
}

function curve(n: number) {
  const y = Array.from({ length: n }, (_, i) => (i + Math.random()) / n);
  return {
    x: Array.from({ length: n }, (_, i) => i + 1),
    xLabel: "x",
    logX: false,
    logY: false,
    series: [{ name: "share", y, low: y.map((share) => share - 0.01), high: y.map((share) => share + 0.01) }],
  };
}

Object.assign(globalThis, {
  updateBars: (n: number, times: number) => updates(bars, () => estimate(n), times),
  updateLines: (n: number, times: number) => updates(lines, () => curve(n), times),
});

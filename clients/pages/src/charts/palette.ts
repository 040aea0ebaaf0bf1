/** The theme's colours as a canvas or a file needs them, resolved; and word when the theme changes. */
import { el } from "../parts/dom.js";

export interface Palette {
  paper: string;
  card: string;
  ink: string;
  quiet: string;
  line: string;
  accent: string;
  second: string;
  wash: string;
  /** What bars are filled with: paler than accent and second, so that whiskers can be seen on them. */
  bar: string;
  rawBar: string;
  /** One for each series of a chart, in this order; told apart by colour-blind eyes too. */
  series: string[];
  /** The colour of a share between 0 and 1 on a scale whose lightness only ever grows or only ever falls. */
  ramp(share: number): string;
}

const SERIES = 8;
const RAMP_STOPS = 6;
const RAMP_COLOURS = 256;

let known: Palette | null = null;
let probe: HTMLElement | null = null;
/** The colour scheme that the probe is read in; as the page's own when empty. */
let scheme = "";
const listeners = new Set<() => void>();

/** Colours as they are now: light or dark. */
export function palette(): Palette {
  known ??= readPalette();
  return known;
}

/** Light colours, whatever the page has: pictures that leave it are for white paper. */
export function lightPalette(): Palette {
  try {
    scheme = "light";
    return readPalette();
  } finally {
    scheme = "";
  }
}

/** Calls back after each change between light and dark, until the function it returns is called. */
export function onThemeChange(changed: () => void): () => void {
  if (listeners.size === 0) watch.start();
  listeners.add(changed);
  return () => {
    listeners.delete(changed);
    if (listeners.size === 0) watch.stop();
  };
}

/** The colour, made transparent: `veil("rgb(1, 2, 3)", 0.2)`. */
export function veil(colour: string, opacity: number): string {
  const [red = "0", green = "0", blue = "0"] = colour.match(/[\d.]+/g) ?? [];
  return `rgba(${red}, ${green}, ${blue}, ${opacity})`;
}

function readPalette(): Palette {
  const of = (name: string): string => resolved(`var(--${name})`);
  const stops = Array.from({ length: RAMP_STOPS }, (_, at) => toLab(of(`ramp-${at}`)));
  const colours = Array.from({ length: RAMP_COLOURS }, (_, at) => ramped(stops, at / (RAMP_COLOURS - 1)));
  return {
    paper: of("paper"),
    card: of("card"),
    ink: of("ink"),
    quiet: of("quiet"),
    line: of("line"),
    accent: of("accent"),
    second: of("second"),
    wash: of("wash"),
    bar: of("bar"),
    rawBar: of("raw-bar"),
    series: Array.from({ length: SERIES }, (_, at) => of(`series-${at}`)),
    ramp: (share) => colours[Math.round(Math.min(1, Math.max(0, share)) * (RAMP_COLOURS - 1))] as string,
  };
}

/** A custom property keeps its text as written; only a real property of an element comes out as a colour. */
function resolved(colour: string): string {
  if (probe === null || !probe.isConnected) {
    probe = el("span", { hidden: true });
    document.body.append(probe);
  }
  probe.style.colorScheme = scheme;
  probe.style.color = colour;
  return getComputedStyle(probe).color;
}

function ramped(stops: Lab[], share: number): string {
  const place = share * (stops.length - 1);
  const below = Math.min(stops.length - 2, Math.floor(place));
  return mixed(stops[below] as Lab, stops[below + 1] as Lab, place - below);
}

const watch = (() => {
  const changed = (): void => {
    known = null;
    for (const listener of [...listeners]) listener();
  };
  let machine: MediaQueryList | null = null;
  let page: MutationObserver | null = null;
  return {
    start(): void {
      known = null;
      machine = matchMedia("(prefers-color-scheme: dark)");
      machine.addEventListener("change", changed);
      page = new MutationObserver(changed);
      page.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    },
    stop(): void {
      machine?.removeEventListener("change", changed);
      page?.disconnect();
    },
  };
})();

// Mixing colours so that equal steps look equal: in Oklab (Ottosson 2020), not in RGB.

/** Lightness, and the two opponent axes. */
type Lab = readonly [number, number, number];

/** From "rgb(r, g, b)", the form in which a browser tells every plain colour. */
export function toLab(colour: string): Lab {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => linear(Number(part) / 255));
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** The colour `share` of the way from one to the other, as "rgb(r, g, b)". */
export function mixed(from: Lab, to: Lab, share: number): string {
  const [L, a, b] = [0, 1, 2].map((axis) => (from[axis] as number) * (1 - share) + (to[axis] as number) * share) as [
    number,
    number,
    number,
  ];
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const parts = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return `rgb(${parts.map((part) => Math.round(255 * Math.min(1, Math.max(0, curved(part))))).join(", ")})`;
}

/** Which of two colours can be read better on a ground. */
export function clearer(ground: string, one: string, other: string): string {
  const [on, first, second] = [ground, one, other].map((colour) => toLab(colour)[0]) as [number, number, number];
  return Math.abs(first - on) >= Math.abs(second - on) ? one : other;
}

const linear = (part: number): number => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);

const curved = (part: number): number => (part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055);

/** The theme's colours as a canvas or a file needs them, resolved; and word when the theme changes. */
import { el } from "../parts/dom.js";
import { mixed, toLab, type Lab } from "./colour.js";

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

/** The same colour, let through: `veil("rgb(1, 2, 3)", 0.2)`. */
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

/** A chart handed to the person as a file. */
import { el } from "../parts/dom.js";
import { counted, percent } from "../parts/format.js";
import { promised, type Promised } from "../parts/promise.js";
import { escaped } from "./pen.js";

const CAPTION = 60;
/** Characters of a title that fit above a picture. */
const LONGEST = 100;

/** What a picture away from its page must say of itself: how many answered, how softly, and how sure the intervals are. */
export const captionOf = (reports: number, promise: Promised, level: number, always: string | null = null): string =>
  `${counted(reports, "report")} · ${promised(promise)} · ${percent(level)} intervals${always === null ? "" : " at every look"}`;

/** The picture with its title and a line about it above; dark on light, as exported pictures are. */
export function captioned(picture: string, title: string, line: string): string {
  const [, width = "960", height = "420"] = /^<svg [^>]*?width="([\d.]+)" height="([\d.]+)"/.exec(picture) ?? [];
  const whole = Number(height) + CAPTION;
  const shown = title.length > LONGEST ? `${title.slice(0, LONGEST - 1)}…` : title;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${whole}" viewBox="0 0 ${width} ${whole}" font-family="system-ui, sans-serif">`,
    `<rect width="${width}" height="${whole}" fill="#ffffff"/>`,
    `<text x="20" y="26" font-size="15" font-weight="600" fill="#1c1e21">${escaped(shown)}</text>`,
    `<text x="20" y="46" font-size="12" fill="#5a6068">${escaped(line)}</text>`,
    picture.replace("<svg ", `<svg y="${CAPTION}" `).trimEnd(),
    "</svg>\n",
  ].join("\n");
}

/** A name that every file system takes: letters, digits and hyphens only. */
export function fileName(parts: readonly string[], ending: "svg" | "png" | "csv"): string {
  const plain = parts.map((part) => part.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, ""));
  return `${plain.filter((part) => part !== "").join("-").slice(0, 80) || "picture"}.${ending}`;
}

/** Saves the text of a picture under a name, as if it had been downloaded. */
export const saveSvg = (text: string, name: string): void => saveFile(new Blob([text], { type: "image/svg+xml" }), name);

/** Saves a file under a name, as if it had been downloaded. */
export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = el("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  // The browser reads the blob after the click; letting it go at once would lose the file in some.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Dots of a saved picture to a pixel of its text. */
const FINER = 2;

/** The picture in dots, for slides and messages that take no SVG. */
export async function savePng(text: string, name: string): Promise<void> {
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = el("img", { src: address });
    await image.decode();
    const canvas = el("canvas", { width: FINER * image.naturalWidth, height: FINER * image.naturalHeight });
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const dots = await new Promise<Blob | null>((made) => canvas.toBlob(made, "image/png"));
    if (dots !== null) saveFile(dots, name);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** One way to draw, onto a canvas or into a file: what is on the screen and what is exported come from the same strokes. */

export interface Stroke {
  stroke?: string;
  width?: number;
  fill?: string;
  dash?: readonly number[];
}

export interface Lettering {
  fill: string;
  size?: number;
  align?: "start" | "middle" | "end";
  bold?: boolean;
  /** Degrees, clockwise, around the place of the text. */
  turn?: number;
}

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Pen {
  rect(left: number, top: number, width: number, height: number, fill: string): void;
  /** Through the points x0, y0, x1, y1, ... */
  path(points: readonly number[], how: Stroke): void;
  circle(x: number, y: number, radius: number, how: Stroke): void;
  /** Cells without gaps, as one picture: for those so many and so small that a rectangle each takes too long. */
  grid?(box: Box, rows: number, columns: number, colour: (row: number, column: number) => string | null): void;
  /** Its middle at the height y. */
  text(text: string, x: number, y: number, how: Lettering): void;
}

export const FONT = "system-ui, sans-serif";
const SIZE = 12;

/** Onto a canvas. */
export function canvasPen(ctx: CanvasRenderingContext2D): Pen {
  const finish = ({ stroke, width = 1, fill, dash = [] }: Stroke): void => {
    if (fill !== undefined) {
      ctx.fillStyle = fill;
      ctx.fill();
    }
    if (stroke !== undefined) {
      ctx.strokeStyle = stroke;
      ctx.lineWidth = width;
      ctx.setLineDash([...dash]);
      ctx.stroke();
    }
  };
  return {
    rect(left, top, width, height, fill) {
      ctx.fillStyle = fill;
      ctx.fillRect(left, top, width, height);
    },
    path(points, how) {
      ctx.beginPath();
      for (let at = 0; at + 1 < points.length; at += 2) ctx.lineTo(points[at] as number, points[at + 1] as number);
      finish(how);
    },
    grid({ left, top, width, height }, rows, columns, colour) {
      const small = document.createElement("canvas");
      [small.width, small.height] = [columns, rows];
      const pixels = new ImageData(columns, rows);
      const known = new Map<string, readonly number[]>();
      for (let at = 0; at < rows * columns; at += 1) {
        const name = colour(Math.floor(at / columns), at % columns);
        if (name === null) continue;
        let parts = known.get(name);
        if (parts === undefined) known.set(name, (parts = [...(name.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number), 255]));
        pixels.data.set(parts, 4 * at);
      }
      small.getContext("2d")?.putImageData(pixels, 0, 0);
      ctx.imageSmoothingEnabled = false;
      ctx.drawImage(small, left, top, width, height);
    },
    circle(x, y, radius, how) {
      ctx.beginPath();
      ctx.arc(x, y, radius, 0, 2 * Math.PI);
      finish(how);
    },
    text(text, x, y, { fill, size = SIZE, align = "start", bold = false, turn = 0 }) {
      ctx.save();
      ctx.translate(x, y);
      ctx.rotate((turn * Math.PI) / 180);
      ctx.font = `${bold ? "600 " : ""}${size}px ${FONT}`;
      ctx.textAlign = align === "middle" ? "center" : align;
      ctx.textBaseline = "middle";
      ctx.fillStyle = fill;
      ctx.fillText(text, 0, 0);
      ctx.restore();
    },
  };
}

/** A canvas of so many CSS pixels, empty, and what draws on it. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const ctx = canvas.getContext("2d");
  ctx?.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx?.clearRect(0, 0, width, height);
  return ctx;
}

/** Into the text of an SVG file that needs nothing else: colours and fonts are written out. */
export class SvgPen implements Pen {
  private readonly parts: string[] = [];

  constructor(
    private readonly width: number,
    private readonly height: number,
    paper: string,
  ) {
    this.rect(0, 0, width, height, paper);
  }

  rect(left: number, top: number, width: number, height: number, fill: string): void {
    this.parts.push(`<rect x="${short(left)}" y="${short(top)}" width="${short(width)}" height="${short(height)}" fill="${escaped(fill)}"/>`);
  }

  path(points: readonly number[], how: Stroke): void {
    const places = [];
    for (let at = 0; at + 1 < points.length; at += 2) {
      places.push(`${short(points[at] as number)},${short(points[at + 1] as number)}`);
    }
    if (places.length > 0) this.parts.push(`<path d="M${places.join("L")}"${stroked(how)}/>`);
  }

  circle(x: number, y: number, radius: number, how: Stroke): void {
    this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}"${stroked(how)}/>`);
  }

  text(text: string, x: number, y: number, { fill, size = SIZE, align = "start", bold = false, turn = 0 }: Lettering): void {
    const weight = bold ? ` font-weight="600"` : "";
    const turned = turn === 0 ? "" : ` transform="rotate(${turn} ${short(x)} ${short(y)})"`;
    this.parts.push(
      `<text x="${short(x)}" y="${short(y)}" dy="0.35em" font-size="${size}" text-anchor="${align}" fill="${escaped(fill)}"${weight}${turned}>${escaped(text)}</text>`,
    );
  }

  /** The whole file. */
  toString(): string {
    const size = `width="${short(this.width)}" height="${short(this.height)}" viewBox="0 0 ${short(this.width)} ${short(this.height)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${FONT}">\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

function stroked({ stroke, width = 1, fill, dash = [] }: Stroke): string {
  const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "";
  const line = stroke === undefined ? "" : ` stroke="${escaped(stroke)}" stroke-width="${width}" stroke-linejoin="round"${dashes}`;
  return ` fill="${escaped(fill ?? "none")}"${line}`;
}

const short = (value: number): string => String(Math.round(value * 100) / 100);

/** As text or as an attribute's value. Characters that no XML file may hold are left out: labels may have any. */
export function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "")
    .replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

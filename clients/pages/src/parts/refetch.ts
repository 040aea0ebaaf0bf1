/** Something asked for again as it changes: never twice at once, never oftener than once in a while, never for a hidden page. */
import { Refusal } from "./api.js";

const LEAST = 1_000;
const AFTER_TROUBLE = 3_000;

export class Refetch<Found> {
  private under = false;
  private again = false;
  private over = false;
  private last = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly fetch: () => Promise<Found>,
    private readonly found: (found: Found) => void,
    private readonly failed: (error: unknown) => void,
  ) {
    document.addEventListener("visibilitychange", this.shown);
  }

  /** There is something new to ask for. What was found stays in place until the answer comes. */
  wanted(): void {
    this.again = true;
    this.plan(LEAST);
  }

  stop(): void {
    this.over = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.shown);
  }

  private readonly shown = (): void => {
    if (!document.hidden && this.again) this.plan(LEAST);
  };

  private plan(pause: number): void {
    if (this.over || this.under || document.hidden) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.run(), Math.max(0, this.last + pause - performance.now()));
  }

  private async run(): Promise<void> {
    this.under = true;
    this.again = false;
    this.last = performance.now();
    let pause = LEAST;
    try {
      const found = await this.fetch();
      if (!this.over) this.found(found);
    } catch (error) {
      pause = AFTER_TROUBLE;
      this.again ||= !(error instanceof Refusal) || error.status >= 500;
      if (!this.over) this.failed(error);
    } finally {
      this.under = false;
    }
    if (this.again) this.plan(pause);
  }
}

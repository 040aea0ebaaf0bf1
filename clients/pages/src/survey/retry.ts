/** Tries again later and later: at first after some seconds, in the end every two minutes. */
const FIRST = 4000;
const LONGEST = 120_000;

export class Retry {
  #wait = FIRST;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt: (() => void) | null = null;

  /** Run this after the next wait, or when told; whatever was due before is not. */
  later(attempt: () => void): void {
    clearTimeout(this.#timer);
    this.#attempt = attempt;
    this.#timer = setTimeout(() => this.now(), this.#wait);
    this.#wait = Math.min(LONGEST, this.#wait * 1.6);
  }

  /** Run what is due at once, if anything is. */
  now(): void {
    clearTimeout(this.#timer);
    const attempt = this.#attempt;
    this.#attempt = null;
    attempt?.();
  }

  /** Nothing is due any more, and the next wait is a short one again. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#attempt = null;
    this.#wait = FIRST;
  }
}

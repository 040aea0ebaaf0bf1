/** One field, or several that make one answer. */
export interface Field<Value = unknown> {
  readonly element: HTMLElement;
  /** What was given, null while that is no answer. */
  read(): Value | null;
  /** What is wrong with it, for the person to read; empty when nothing is. */
  problem(): string;
  focus(): void;
  /** Choose an answer, where answers are listed. */
  set?(value: Value): void;
}

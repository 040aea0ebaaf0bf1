/** Untrusted text, such as a survey's title, made safe to show: one line, no control characters. */

/** The text without control, formatting and other unprintable characters, shortened if it is too long. */
export function oneLine(text: string, longest = 200): string {
  const shown = Array.from(text.slice(0, 4 * longest), (sign) =>
    /[^\p{C}\p{Z}]/u.test(sign) ? sign : /\s/u.test(sign) ? " " : "",
  );
  const line = [...shown.join("").split(" ").filter(Boolean).join(" ")];
  return line.length <= longest ? line.join("") : `${line.slice(0, longest - 1).join("")}…`;
}

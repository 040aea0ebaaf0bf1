/** Text from strangers, such as a survey's title, as it may be shown: one line, nothing that moves the cursor. */

/** The text without control, formatting and other unprintable characters, cut where it is too long. */
export function oneLine(text: string, longest = 200): string {
  const shown = Array.from(text.slice(0, 4 * longest), (sign) =>
    /[^\p{C}\p{Z}]/u.test(sign) ? sign : /\s/u.test(sign) ? " " : "",
  );
  const line = [...shown.join("").split(" ").filter(Boolean).join(" ")];
  return line.length <= longest ? line.join("") : `${line.slice(0, longest - 1).join("")}…`;
}

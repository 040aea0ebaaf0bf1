/** Text of strangers, for people to read. */

/**
 * A stranger's text with what cannot be seen made visible, so that no label poses as another or turns its line around.
 *
 * The two joiners stay as they are: scripts and emoji need them.
 */
export const plain = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, (sign) =>
    /[\u200c\u200d]/.test(sign) ? sign : `⟨U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );

/** What is said of a report that stands, wherever it is shown. */

/** What somebody reads whose answer came after another tab's. */
export const UNUSED = "This browser had already answered. That report stands; what you chose just now was not used.";

/** Which view an address shows. Every link loads its page anew: the collector is near, and nothing is left running. */

export type ViewName = "surveys" | "create" | "planner" | "survey" | "unknown";

/** The view of a path, with the survey's id where the address has one. */
export function routeOf(path: string): { view: ViewName; id?: string } {
  const plain = path.replace(/\/+$/, "") || "/";
  if (plain === "/") return { view: "surveys" };
  if (plain === "/new") return { view: "create" };
  if (plain === "/plan") return { view: "planner" };
  const id = /^\/survey\/([0-9a-f]{64})$/.exec(plain)?.[1];
  return id === undefined ? { view: "unknown" } : { view: "survey", id };
}

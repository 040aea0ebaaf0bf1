/** What a page shows is gone when it is left: browsers may keep it as it was, for whoever presses Back. */
import { byId, fill } from "./dom.js";

/** Empties the page when it is left, before the browser could keep it, and loads it anew if it did. */
export function emptyWhenLeft(): void {
  addEventListener("pagehide", () => fill(byId("page")));
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}

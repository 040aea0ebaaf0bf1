/** Who is signed in, and what their token opens. */
import type { SignedIn } from "./api_types.js";
import { ask } from "./api.js";
import { keeps, recall, remember } from "./keep.js";

/** What a view is given. */
export interface ViewContext {
  id?: string;
  session: SignedIn;
}

export type Scope = SignedIn["scopes"][number];

export type View = (page: HTMLElement, context: ViewContext) => void | Promise<void>;

/** Whether a token opens what needs that scope, by the collector's rule: all of them read, admin does everything. */
export const allows = ({ scopes }: SignedIn, scope: Scope): boolean =>
  scope === "read" || scopes.includes(scope) || scopes.includes("admin");

const SIGNED_IN = "signed-in";

/** Whether it is worth asking: who never signed in here, or signed out, has no cookie. */
export const mayBeSignedIn = (): boolean => recall("localStorage", SIGNED_IN) !== null || !keeps("localStorage");

/** Whether somebody was signed in on this tab, so that being so no more is news to them. */
export const wasSignedIn = (): boolean => recall("sessionStorage", SIGNED_IN) !== null;

/** Who is signed in. */
export async function currentSession(): Promise<SignedIn> {
  return noted(await ask<SignedIn>("/v1/session"));
}

/** Signs in: the token becomes a cookie that no script can read, and is kept nowhere else. */
export async function signIn(token: string): Promise<SignedIn> {
  return noted(await ask<SignedIn>("/v1/session", { token }));
}

export async function signOut(): Promise<void> {
  await ask("/v1/session", undefined, "DELETE");
  remember("localStorage", SIGNED_IN, null);
  remember("sessionStorage", SIGNED_IN, null);
}

function noted(session: SignedIn): SignedIn {
  remember("localStorage", SIGNED_IN, "yes");
  remember("sessionStorage", SIGNED_IN, "yes");
  return session;
}

/** Which view an address shows, and what a token opens. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { routeOf } from "../src/dashboard/header.js";
import { allows, type Scope } from "../src/parts/session.js";
import { sentence } from "../src/parts/trouble.js";

test("every address has its view; one that is no survey's has none", () => {
  const id = "0f".repeat(32);
  assert.deepEqual(routeOf("/"), { view: "surveys" });
  assert.deepEqual(routeOf("/new"), { view: "create" });
  assert.deepEqual(routeOf("/new/"), { view: "create" });
  assert.deepEqual(routeOf("/plan"), { view: "planner" });
  assert.deepEqual(routeOf(`/survey/${id}`), { view: "survey", id });
  for (const path of [
    "/survey/",
    "/survey/12",
    `/survey/${id.toUpperCase()}`,
    `/survey/${id}/x`,
    "/survey/%2e%2e",
    "/other",
  ])
    assert.deepEqual(routeOf(path), { view: "unknown" }, path);
});

test("all tokens read, an admin's opens everything, the others what they say", () => {
  const opens = (...scopes: Scope[]): Scope[] =>
    (["read", "ask", "publish", "admin"] as const).filter((scope) => allows({ scopes, note: "" }, scope));
  assert.deepEqual(opens("read"), ["read"]);
  assert.deepEqual(opens("ask"), ["read", "ask"]);
  assert.deepEqual(opens("publish"), ["read", "publish"]);
  assert.deepEqual(opens("admin"), ["read", "ask", "publish", "admin"]);
});

test("messages become sentences, and stay what they are", () => {
  assert.equal(sentence("epsilon must be above 0"), "Epsilon must be above 0.");
  assert.equal(sentence("  Was all of it pasted? "), "Was all of it pasted?");
});

/** The store in memory keeps what every store must; IndexedDB's runs the same contract in a browser. */
import { test } from "node:test";
import { MemoryStore } from "../src/device/store.js";
import { CONTRACT } from "./store_contract.js";

for (const [name, check] of Object.entries(CONTRACT)) {
  test(`memory: ${name}`, async () => {
    const store = new MemoryStore();
    await check(async () => store);
  });
}

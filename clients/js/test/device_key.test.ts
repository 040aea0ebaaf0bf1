/** A device gives its answer to one key, also where another one has its address by the time it is sent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "../src/core/bytes.js";
import { Device } from "../src/device/device.js";
import { MismatchError, SignatureError } from "../src/core/errors.js";
import { type Answer, MemoryStore } from "../src/device/store.js";
import { collectorOfTests, hangUp, json, raw, refuse, Signer } from "./server.js";
import { shares } from "./stated.js";

const server = collectorOfTests();
const signer = new Signer();

const HASTY = { attempts: 2, first: 0.001, longest: 1 };
const COLOURS = colours("Colours");

function colours(title: string): string {
  return JSON.stringify(shares({ labels: ["red", "green", "blue"] }, { name: "hadamard" }, { title }));
}

async function publish(statement = COLOURS, by = signer): Promise<string> {
  const envelope = await by.envelope(statement);
  server.publish(envelope);
  return envelope.id;
}

const device = (store = new MemoryStore(), key = signer.public): Device => new Device(store, { patience: HASTY, key });

test("an answer that stands goes to the key it was drawn for, also where another one has its address now", async () => {
  const id = await publish();
  const get = `GET /v1/surveys/${id}`;
  const stranger = await new Signer().envelope(COLOURS);
  for (const options of [{ patience: HASTY }, { patience: HASTY, key: signer.public }]) {
    const store = new MemoryStore();
    const mine = () => new Device(store, options);
    await publish();
    const drawn = await mine().answer(server.url, id, "red", { send: false });
    assert.deepEqual([drawn.state, drawn.drawn], ["unsent", true]);
    const before = server.sent.length;
    const forged = { ...(await signer.envelope(COLOURS)), signature: stranger.signature };
    for (const envelope of [stranger, forged, await signer.envelope(colours("another"))]) {
      server.answers.set(get, json(200, envelope));
      await assert.rejects(mine().answer(server.url, id, "red"), SignatureError);
      const [receipt, ...others] = await mine().flush();
      assert.deepEqual([receipt!.state, others], ["unsent", []]);
      assert.notEqual(receipt!.problem, "");
    }
    // Who has not shown the key has not refused for the collector either.
    for (const away of [refuse(404, "not_found"), refuse(503, "busy"), raw(200, "<html>hotel</html>"), hangUp]) {
      server.answers.set(get, away);
      for (const receipt of [await mine().answer(server.url, id, "red"), ...(await mine().flush())]) {
        assert.deepEqual([receipt.state, receipt.drawn], ["unsent", false]);
        assert.notEqual(receipt.problem, "");
      }
    }
    assert.equal(server.sent.length, before, "nothing was sent");
    await publish();
    assert.equal((await mine().flush())[0]!.state, "sent");
    const [kept] = (await store.answers()) as [Answer];
    assert.ok(server.sent.at(-1)!.endsWith(toHex(kept.report)), "the same bytes as were drawn");
  }
});

test("a device that was given another key sends nothing that was drawn for the old one", async () => {
  const id = await publish();
  const store = new MemoryStore();
  await device(store).answer(server.url, id, "red", { send: false });
  const other = new Signer();
  const later = device(store, other.public);
  for (const by of [signer, other]) {
    await publish(COLOURS, by);
    await assert.rejects(later.answer(server.url, id, "red"), MismatchError);
    assert.match((await later.flush())[0]!.problem, /key/);
  }
  assert.equal(server.sent.length, 0);
  await publish();
  assert.equal((await device(store).answer(server.url, id, "red")).state, "sent");
});

test("the key is looked at once in a call", async () => {
  const id = await publish();
  const mine = device();
  const asked = () => server.requests.splice(0).map(({ method, path }) => `${method} ${path.split("/").at(-1)}`);
  await mine.answer(server.url, id, "red");
  assert.deepEqual(asked(), [`GET ${id}`, `GET ${id}?block=0`, "POST reports"]); // the second is the log's
  const second = await publish(colours("second"));
  await mine.answer(server.url, second, "red", { send: false });
  await mine.answer(server.url, second, "red");
  assert.deepEqual(asked(), [`GET ${second}`, `GET ${second}?block=0`, `GET ${second}`, "POST reports"]);
  await mine.answer(server.url, second, "red");
  assert.deepEqual([asked(), await mine.flush()], [[], []]);
});

/** A collector for tests, honest or not: it answers with what a test tells it to, and writes down what it was sent. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { AddressInfo } from "node:net";
import { after, afterEach, before } from "node:test";
import { sha256, toBase64url, toHex } from "../src/core/bytes.js";

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: Uint8Array;
  readonly headers: IncomingMessage["headers"];
  /** The client's end of the connection. */
  readonly port: number | undefined;
}

type Answer = (request: Request, response: ServerResponse) => void;

/** An Ed25519 key pair of a collector. */
export class Signer {
  readonly private: KeyObject;
  readonly public: Uint8Array;

  constructor() {
    const pair = generateKeyPairSync("ed25519");
    this.private = pair.privateKey;
    this.public = new Uint8Array(pair.publicKey.export({ type: "spki", format: "der" }).subarray(-32));
  }

  /** A published survey, as it travels. */
  async envelope(statement: string, attachments: string[] = [], state = "open") {
    const bytes = new TextEncoder().encode(statement);
    const signed = Buffer.concat([Buffer.from("sottovoce survey 1\0"), bytes]);
    return {
      id: toHex(await sha256(bytes)),
      statement,
      signature: toBase64url(new Uint8Array(sign(null, signed, this.private))),
      key: toBase64url(this.public),
      attachments,
      state,
    };
  }
}

/** Serves on this machine; `answers` are looked up by method and path, and may be changed while it runs. */
export class TestCollector {
  readonly requests: Request[] = [];
  readonly answers = new Map<string, Answer>();
  // It never hangs up on a client that is quiet for a while: its next request might be on the way just then.
  readonly #server = createServer({ keepAliveTimeout: 0 }, async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const { method = "", url = "", headers, socket } = incoming;
    const body = new Uint8Array(Buffer.concat(parts));
    const request = { method, path: url, headers, body, port: socket.remotePort };
    this.requests.push(request);
    const answer = this.answers.get(`${method} ${url}`) ?? refuse(404, "not_found");
    answer(request, response);
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this.url;
  }

  /** The address, once it has started. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Bodies of reports that were sent, whatever was answered. */
  get sent(): string[] {
    return this.requests.filter(({ method }) => method === "POST").map(({ body }) => toHex(body));
  }

  /** Publish an envelope and its statement, and take reports for it. */
  publish(envelope: { id: string; statement?: string }): void {
    this.answers.set(`GET /v1/log/statements/${envelope.id}`, raw(200, envelope.statement ?? ""));
    this.answers.set(`GET /v1/surveys/${envelope.id}`, json(200, envelope));
    this.answers.set(`POST /v1/surveys/${envelope.id}/reports`, json(200, { accepted: 1, refused: [] }));
  }
}

/** A collector for the tests of one file: it runs while they do, and forgets everything after each of them. */
export function collectorOfTests(): TestCollector {
  const server = new TestCollector();
  before(() => server.start());
  after(() => server.stop());
  afterEach(() => {
    server.answers.clear();
    server.requests.length = 0;
  });
  return server;
}

/** Answers with JSON. */
export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  raw(status, JSON.stringify(body), { "Content-Type": "application/json", ...headers });

/** Answers with the collector's own error shape. */
export const refuse = (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  json(status, { error: { code, message: `told: ${code}` } }, headers);

/** Answers with any bytes. */
export const raw =
  (status: number, body: string | Uint8Array, headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.writeHead(status, headers);
    response.end(body);
  };

/** Goes away in the middle. */
export const hangUp: Answer = (_, response) => response.destroy();

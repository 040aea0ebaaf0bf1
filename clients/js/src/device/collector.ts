/**
 * The client of a collector: fetches and verifies surveys, and sends reports.
 *
 * The order matters: key, signature and id are verified over the received bytes before these are parsed.
 */
import type { Acknowledgement, Envelope, LogProof, TimeAnswer } from "../core/api_types.js";
import { equalBytes, fromBase64url, sha256, toHex } from "../core/bytes.js";
import { MismatchError, ServiceError, SignatureError, SottovoceError, SurveyError, TransparencyError } from "../core/errors.js";
import { MAX_ATTACHMENT_BYTES, MAX_SURVEY_BYTES } from "../core/limits.js";
import type { BroughtMechanisms } from "../mechanisms/base/finite.js";
import { PATIENCE, type Patience, patiently } from "./http.js";
import { fingerprint, PUBLIC_KEY_BYTES, SIGNATURE_BYTES, verify } from "../core/signature.js";
import type { Panel } from "../surveys/panel.js";
import { type Asked, readSurvey } from "../surveys/read.js";
import { Survey } from "../surveys/survey.js";
import { readLogProof } from "../transparency/evidence.js";
import { BAD_ANSWER, type Transport } from "../core/transport.js";
import { checkSurveyId, type Upload } from "./wire.js";

const MOST_ATTACHMENTS = 4;

/** A verified survey, the key that signed it, and its state, which is unsigned. */
export interface Published {
  readonly survey: Asked;
  readonly key: Uint8Array;
  readonly state: string;
}

/** The round of a panel that was opened last. */
export interface LatestRound extends Published {
  readonly survey: Survey;
  readonly number: number;
}

/** Fetches and verifies what a collector publishes, and sends it reports. */
export class Collector {
  readonly #http: Transport;
  readonly #patience: Patience;
  readonly #mechanisms: BroughtMechanisms;

  /** Nothing is waited for once `performance.now()` is `ends`; surveys may name the `mechanisms` of other packages. */
  constructor(
    http: Transport,
    patience: Patience = PATIENCE,
    readonly ends = Infinity,
    mechanisms: BroughtMechanisms = {},
  ) {
    this.#http = http;
    this.#patience = patience;
    this.#mechanisms = mechanisms;
  }

  /** Its address in canonical form. */
  get url(): string {
    return this.#http.url;
  }

  /** The survey of that id, verified with the trusted key, or with its own if there is none yet. */
  async survey(id: string, trusted: Uint8Array | null): Promise<Published> {
    return this.#checked(await this.#envelope(id), trusted);
  }

  /** Rejects with `SignatureError` unless the survey of that id is signed with this key; it is not parsed. */
  async checkKey(id: string, key: Uint8Array): Promise<void> {
    await signed(await this.#envelope(id), key);
  }

  /**
   * The round of this panel that was opened last; null before the first. The request names no round: one that did would
   * tell the collector which round a device has drawn.
   */
  async latestRound(panel: Panel, trusted: Uint8Array): Promise<LatestRound | null> {
    let answer: unknown;
    try {
      answer = await this.#get(`/v1/surveys/${panel.id}/rounds/latest`);
    } catch (error) {
      if (error instanceof ServiceError && error.code === "round_not_open") return null;
      throw error;
    }
    const { survey, key, state } = await this.#checked(readEnvelope(answer), trusted);
    if (!(survey instanceof Survey) || survey.seat?.panel.id !== panel.id) {
      throw new MismatchError("the collector answered with something else than a round of this panel");
    }
    return { survey, key, state, number: survey.seat.round };
  }

  /** What its log proves of a survey to a device that has seen so many blocks of it; null if it has no log. */
  async logProof(id: string, block: number): Promise<LogProof | null> {
    try {
      return readLogProof(await this.#try(() => this.#http.get(`/v1/log/proofs/${checkSurveyId(id)}?block=${block}`)));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.code === "not_in_log") {
        throw new TransparencyError(
          `survey ${id.slice(0, 12)} is not in the log of the collector at ${this.url}: others cannot see that it is ` +
            "asked. Nothing was answered; ask the collector's operator, by another way",
        );
      }
      if (error.status === 404 || error.status === 405) return null;
      throw error;
    }
  }

  /** The statement that the log has under this hash, as anybody can fetch it; null if it is not there. */
  async statement(id: string): Promise<Uint8Array | null> {
    try {
      return await this.#try(() => this.#http.getBytes(`/v1/log/statements/${checkSurveyId(id)}`, MAX_SURVEY_BYTES));
    } catch (error) {
      if (error instanceof ServiceError && [404, 405, 410].includes(error.status)) return null;
      throw error;
    }
  }

  /** Its clock, in milliseconds since 1970. */
  async time(): Promise<number> {
    const answer = (await this.#get("/v1/time")) as Partial<TimeAnswer> | null;
    const now = typeof answer?.now === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(answer.now) ? Date.parse(answer.now) : NaN;
    if (Number.isNaN(now)) throw new ServiceError("the collector does not say what time it is", BAD_ANSWER);
    return now;
  }

  /** Send one report; on return it is durable at the collector. */
  async send(upload: Upload): Promise<void> {
    const answer = (await this.#try(() =>
      this.#http.post(upload.path, upload.body, upload.contentType),
    )) as Partial<Acknowledgement> | null;
    if (answer?.accepted !== 1) {
      // A proxy may answer anything with status 200; only this means that the report was stored.
      throw new ServiceError("the collector does not say that it has the report", BAD_ANSWER);
    }
  }

  #try<Found>(request: () => Promise<Found>): Promise<Found> {
    return patiently(this.#patience, this.ends, request);
  }

  #get(path: string): Promise<unknown> {
    // JSON within JSON: quotes take two bytes each, other characters up to three times as many.
    return this.#try(() => this.#http.get(path, 4 * MAX_SURVEY_BYTES + 2 ** 16));
  }

  async #envelope(id: string): Promise<Envelope> {
    const envelope = readEnvelope(await this.#get(`/v1/surveys/${checkSurveyId(id)}`));
    if (envelope.id !== id) throw new SignatureError("the collector answered with another survey");
    return envelope;
  }

  async #checked(envelope: Envelope, trusted: Uint8Array | null): Promise<Published> {
    const [key, statement] = await signed(envelope, trusted ?? this.#http.signer);
    const survey = await readSigned(statement, await this.#attachments(envelope), this.#mechanisms);
    if (!equalBytes(survey.canonical, statement)) {
      throw new SignatureError("the survey is not in canonical JSON");
    }
    return { survey, key, state: envelope.state };
  }

  /** The attachments that the statement names by digest; parsing it verifies them. */
  async #attachments(envelope: Envelope): Promise<Record<string, Uint8Array>> {
    const named = envelope.attachments.filter((digest) => envelope.statement.includes(`"${digest}"`));
    if (named.length > MOST_ATTACHMENTS || !named.every((digest) => /^[0-9a-f]{64}$/.test(digest))) {
      throw new ServiceError("the survey's attachments are too many, or misnamed", BAD_ANSWER);
    }
    const found: Record<string, Uint8Array> = {};
    for (const digest of named) {
      found[digest] = await this.#try(() => this.#http.getBytes(`/v1/attachments/${digest}`, MAX_ATTACHMENT_BYTES));
    }
    return found;
  }
}

function readEnvelope(answer: unknown): Envelope {
  const found = (answer ?? {}) as Envelope;
  const texts = [found.id, found.statement, found.signature, found.key, found.state];
  const listed = Array.isArray(found.attachments) ? found.attachments : [null];
  if (![...texts, ...listed].every((text) => typeof text === "string")) {
    throw new ServiceError("the collector's answer is not a published survey", BAD_ANSWER);
  }
  return found;
}

/** The key and the statement, after signature and id are verified; the statement is not parsed. */
async function signed(envelope: Envelope, trusted: Uint8Array | null): Promise<[Uint8Array, Uint8Array]> {
  const key = fromBase64url(envelope.key, PUBLIC_KEY_BYTES);
  if (trusted !== null && !equalBytes(key, trusted)) {
    throw new SignatureError(
      `the collector signs with the key ${(await fingerprint(key)).slice(0, 16)}, and this device trusts only ` +
        `${(await fingerprint(trusted)).slice(0, 16)}: ask its owner, by another way, whether the key was changed`,
    );
  }
  const statement = new TextEncoder().encode(envelope.statement);
  await verify(key, statement, fromBase64url(envelope.signature, SIGNATURE_BYTES));
  if (toHex(await sha256(statement)) !== envelope.id) {
    throw new SignatureError("the survey's id is not its SHA-256");
  }
  return [key, statement];
}

async function readSigned(
  statement: Uint8Array,
  attachments: Record<string, Uint8Array>,
  mechanisms: BroughtMechanisms,
): Promise<Asked> {
  try {
    return await readSurvey(statement, attachments, mechanisms);
  } catch (error) {
    if (error instanceof SottovoceError) throw error;
    // Signed but invalid in a way that no check covers: still an invalid survey, not a failure of this program.
    throw new SurveyError(`the survey cannot be read (${(error as Error).name})`);
  }
}

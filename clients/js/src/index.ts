/** The public face: read a survey, answer it from a device, see what was spent. */
export { type AnswerOptions, Device, type DeviceOptions } from "./device.js";
export { Domain } from "./domain.js";
export * from "./errors.js";
export { IndexedDbStore } from "./indexed_db.js";
export { type Allowance, type Entry, Ledger } from "./ledger.js";
export type { Mechanism } from "./mechanism.js";
export type { Question } from "./questions/question.js";
export type { Receipt } from "./receipt.js";
export { fingerprint } from "./signature.js";
export { type Fill, Source } from "./source.js";
export { type Answer, type AnswerState, type Draw, MemoryStore, type Store } from "./store.js";
export type { Attachments, Design } from "./strategies/design.js";
export { Panel } from "./surveys/panel.js";
export type { Seat } from "./surveys/seat.js";
export { readSurvey, Survey } from "./surveys/survey.js";
export { encodeBatch } from "./wire.js";

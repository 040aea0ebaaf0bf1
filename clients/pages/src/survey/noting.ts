/** A store that tells what was drawn through it: another tab may draw first, and then this one's answer is not used. */
import type { Answer, Store } from "../../../js/src/index.js";

/** The same store; `note` is called with every answer that is drawn here, before it is known whether it will stand. */
export const noting = (store: Store, note: (drawn: Answer) => void): Store => ({
  pinned: (collector) => store.pinned(collector),
  pin: (collector, key) => store.pin(collector, key),
  checkpoint: (key) => store.checkpoint(key),
  remember: (key, before, after) => store.remember(key, before, after),
  keepConflict: (conflict) => store.keepConflict(conflict),
  conflicts: () => store.conflicts(),
  secret: (fresh) => store.secret(fresh),
  seat: (question) => store.seat(question),
  join: (joined) => store.join(joined),
  joined: () => store.joined(),
  leave: (question) => store.leave(question),
  refusesRenewals: (question) => store.refusesRenewals(question),
  refuseRenewals: (question, refuses) => store.refuseRenewals(question, refuses),
  answer: (question, window) => store.answer(question, window),
  answers: () => store.answers(),
  record: (question, window, draw) =>
    store.record(question, window, (answers) => {
      const drawn = draw(answers);
      note(drawn);
      return drawn;
    }),
  mark: (question, window, state) => store.mark(question, window, state),
  move: (question, collector) => store.move(question, collector),
});

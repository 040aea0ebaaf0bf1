/** A store that tells what was drawn through it: another tab may draw first, and then this one's answer is not used. */
import type { Answer, Store } from "../../../js/src/index.js";

/** The same store; `note` is called with every answer that is drawn here, before it is known whether it will stand. */
export const noting = (store: Store, note: (drawn: Answer) => void): Store => ({
  pinned: (collector) => store.pinned(collector),
  pin: (collector, key) => store.pin(collector, key),
  seat: (question, draw) => store.seat(question, draw),
  answer: (question) => store.answer(question),
  answers: () => store.answers(),
  record: (question, draw) =>
    store.record(question, (answers) => {
      const drawn = draw(answers);
      note(drawn);
      return drawn;
    }),
  mark: (question, state) => store.mark(question, state),
  move: (question, collector) => store.move(question, collector),
});

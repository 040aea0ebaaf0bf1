/** The survey page: a question, an answer that stays here, and a picture of what leaves. */
import { byId, fill } from "../parts/dom.js";

fill(byId("page"), "");

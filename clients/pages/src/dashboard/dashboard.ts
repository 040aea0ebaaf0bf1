/** The dashboard: which view an address shows, once somebody is signed in. */
import { byId, fill } from "../parts/dom.js";

fill(byId("page"), "");

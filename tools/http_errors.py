"""Every code with which the service refuses: its status, when it is sent, and what to do about it.

A test finds all of them in the service's source, so that none can be added there and be missing here.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BODIES", "ERRORS", "VERDICTS", "Code"]


class Code(NamedTuple):
    """One word for programs."""

    status: int
    name: str
    when: str
    remedy: str


ERRORS = (
    Code(400, "bad_request", "the request cannot be read as HTTP for this service", "look at what sent it"),
    Code(400, "invalid_body", "the JSON has another shape; `field` says where", "send the shape given here"),
    Code(400, "invalid_parameter", "a parameter is unknown, given twice, or out of range", "leave it out, or mend it"),
    Code(400, "malformed_json", "the body is no JSON in UTF-8", "mend it"),
    Code(401, "unauthorized", "no token, an unknown one, or a revoked one; or a cookie that does not count",
         "ask an admin for a token; sign in"),
    Code(403, "insufficient_scope", "the token does not open this", "ask an admin for a token of the scope named"),
    Code(403, "other_site", "a page of another site asked to sign in or out", "use the dashboard, at `/`"),
    Code(404, "not_found", "there is no such address", "`/openapi.json` lists all there are"),
    Code(404, "round_not_open", "nobody has opened that round yet", "a device asks again later"),
    Code(404, "unknown_attachment", "nothing here has that digest", "take the digest from the survey's statement"),
    Code(404, "unknown_file", "the pages have no file of that name", "open `/`, or `/s/` and a survey's id"),
    Code(404, "unknown_round", "the survey has no round of that number", "ask for the round that was drawn"),
    Code(404, "unknown_segment", "no such segment, or it was put together with others", "list the segments again"),
    Code(404, "unknown_survey", "no survey of that id was ever published here", "`/v1/surveys` lists all there are"),
    Code(404, "unknown_token", "there is no token of that id", "`/v1/tokens` lists all there are"),
    Code(405, "method_not_allowed", "the address does not take that method", "`Allow` lists those it takes"),
    Code(408, "body_too_slow", "the body took longer than `body_seconds`", "send it again, or in smaller parts"),
    Code(408, "incomplete_body", "the sender went away before the body was complete", "send the same again"),
    Code(409, "counted_elsewhere", "the survey has more counters than `max_counters`, and nobody handed its counts in",
         "export it and count it with `sottovoce aggregate`"),
    Code(409, "mismatch", "what was sent belongs to another survey", "send it there"),
    Code(409, "not_sealed", "counts were handed in of a survey that may still change", "seal it, and count all of it"),
    Code(409, "round_not_next", "an earlier round is missing or open, or the round has another question",
         "close the earlier one; read the rounds again"),
    Code(409, "rounds_spent", "all rounds of a panel have been asked", "make a panel of more rounds"),
    Code(409, "survey_adaptive", "a panel has no reports of its own", "ask for one of its rounds"),
    Code(409, "survey_deleted", "a deleted survey was published again", "change its title: that makes another survey"),
    Code(409, "survey_not_adaptive", "a survey without rounds was asked for one", "use its estimate"),
    Code(409, "survey_sealed", "the survey takes no more reports", "delete the report; nobody will want it"),
    Code(409, "too_few_reports", "fewer reports are counted than the survey's minimum", "ask again later"),
    Code(409, "too_much", "the answer would not fit into memory", "fetch the aggregate and estimate elsewhere"),
    Code(410, "survey_deleted", "the survey was deleted, with all its reports", "delete the report too"),
    Code(413, "body_too_large", "the body is longer than is read", "send it in parts"),
    Code(413, "too_large", "the same, noticed by the server before any handler was asked", "send it in parts"),
    Code(415, "compressed_body", "there is a `Content-Encoding`", "leave it out: bodies come as they are"),
    Code(415, "unsupported_media_type", "`Content-Type` is another one", "say what the body is"),
    Code(422, "foreign_round", "the statement is no round of this survey", "open it under its own survey"),
    Code(422, "invalid_draft", "no survey, round or plan can be made of this; `field` says why", "mend that field"),
    Code(422, "invalid_labels", "labels do not name each choice once", "send as many as there are choices, or none"),
    Code(422, "invalid_report", "bytes that no device can have sent", "randomize and encode anew"),
    Code(422, "invalid_survey", "the statement is no survey, or not written canonically", "send what `to_json` gives"),
    Code(422, "minimum_too_low", "`minimum_reports` is below the operator's", "leave it out, or ask for more"),
    Code(422, "other_reports", "the counts handed in are of more or fewer reports", "export anew, and count all of it"),
    Code(422, "round_of_a_panel", "a round was published as a survey of its own", "open it under its panel"),
    Code(422, "too_many_counters", "nobody could hold its counts", "ask for fewer values, or another mechanism"),
    Code(422, "unexpected_attachment", "other attachments came than the survey names", "send exactly those it names"),
    Code(422, "wrong_attachment", "an attachment is no base64", "mend it"),
    Code(429, "too_many_requests", "more than `max_reports_per_second` for this survey", "wait `Retry-After`"),
    Code(500, "internal", "nobody foresaw this", "look into the service's log; tell us"),
    Code(503, "busy", "estimates, plans or tables under way, and those that wait, are as many as there may be; or the "
         "service stops", "wait `Retry-After`"),
    Code(503, "not_ready", "of `/readyz`: the store cannot be reached or written to", "wait; see the service's log"),
    Code(503, "overloaded", "`queue_reports` are on their way to the disk, or the service stops", "wait `Retry-After`"),
    Code(503, "store_failed", "the database failed in a way nobody foresaw", "look into the service's log"),
    Code(503, "store_unavailable", "the database is away or stays locked", "wait `Retry-After`"),
    Code(503, "too_many_streams", "64 streams of events are open in this process, or it stops",
         "ask for the status; wait `Retry-After`"),
    Code(507, "storage_full", "the disk or the quota is full; nothing was kept", "free some; devices send again"),
)  # fmt: skip
"""In the one error shape, in the order of their statuses."""

BODIES = (
    Code(400, "bad_batch", "the bytes are no batch: other letters in front, or no whole number of rows", "encode anew"),
    Code(400, "bad_json", "the JSON is neither one report nor a list of them, or names something twice", "mend it"),
    Code(404, "unknown_survey", "as above", "as above"),
    Code(410, "survey_deleted", "as above", "as above"),
    Code(413, "too_many_reports", "more reports than `max_batch_reports`", "send them in several bodies"),
    Code(422, "empty_batch", "a body without a report", "send at least one"),
    Code(422, "survey_adaptive", "reports were sent to a panel", "send each to the id of its round"),
    Code(422, "wrong_survey", "the batch says that it is of another survey than the address", "send it there"),
)
"""Why a whole body of reports is refused; beside those above."""

VERDICTS = (
    Code(0, "bad_encoding", "in JSON: no base64url, or with padding or unused bits that are not zero", ""),
    Code(0, "bad_id", "in JSON: the id is not 32 hexadecimal digits in lower case", ""),
    Code(0, "bad_report", "no device that follows the survey can have sent this payload", ""),
    Code(0, "wrong_length", "in JSON: this survey's reports have another length", ""),
    Code(0, "wrong_survey", "the report's first 4 bytes are another survey's", ""),
)
"""Why one report of a body is refused, which keeps none of the others out."""

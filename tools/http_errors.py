"""Every error code of the service: its status, when it is sent, and what to do.

A test finds all of them in the service's source, so that none can be added there and be missing here.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BODIES", "ERRORS", "SEALED", "VERDICTS", "Code"]


class Code(NamedTuple):
    """One word for programs."""

    status: int
    name: str
    when: str
    remedy: str


ERRORS = (
    Code(400, "invalid_body", "the JSON has another shape; `field` says where", "send the shape given here"),
    Code(400, "invalid_parameter", "a parameter is unknown, given twice, or out of range", "correct it"),
    Code(400, "malformed_json", "the body is not JSON in UTF-8", "correct it"),
    Code(400, "bad_sealed_batch", "the body is not sealed messages of one size", "encode again"),
    Code(401, "unauthorized", "no token, an unknown, revoked or expired one; or a cookie that does not count",
         "ask an admin for a token; sign in"),
    Code(403, "insufficient_scope", "the token lacks the scope", "ask an admin for a token of the scope named"),
    Code(403, "other_site", "a page of another site tried to sign in or out", "use the dashboard, at `/`"),
    Code(404, "not_found", "unknown address", "`/openapi.json` lists all addresses"),
    Code(404, "no_such_page", "the list or the estimate ends before that page", "`pages` says how many there are"),
    Code(404, "no_such_size", "the log of surveys has fewer entries", "ask for sizes up to that of the checkpoint"),
    Code(404, "not_in_log", "no survey with that id was published here; periods have no entry of their own",
         "do not answer it; ask for the entry of the tracking survey"),
    Code(404, "period_not_open", "the period of a tracking survey has not begun; wait `Retry-After`, at most a day",
         "a device sends the same again later"),
    Code(404, "round_not_open", "no round of the panel has been opened yet", "a device asks again later"),
    Code(404, "unknown_attachment", "no attachment has that digest", "take the digest from the survey's statement"),
    Code(404, "unknown_file", "the pages have no file of that name", "open `/`, or `/s/` and a survey's id"),
    Code(404, "unknown_segment", "unknown segment, or it was merged with others", "list the segments again"),
    Code(404, "unknown_survey", "no survey with that id was published", "`/v1/surveys` lists all surveys"),
    Code(404, "unknown_token", "no token has that id", "`/v1/tokens` lists all tokens"),
    Code(405, "method_not_allowed", "the address does not accept that method", "`Allow` lists those it accepts"),
    Code(408, "body_too_slow", "the body took longer than `body_seconds`", "send it again, or in smaller parts"),
    Code(408, "incomplete_body", "the connection ended before the body did", "send the same again"),
    Code(409, "counted_elsewhere", "the survey has more counters than `max_counters`, and nobody handed its counts in",
         "export it and count it with `sottovoce aggregate`"),
    Code(409, "group_of_a_survey", "one group of a survey was to be deleted", "delete the survey with all its groups"),
    Code(409, "mismatch", "the body belongs to another survey", "send it there"),
    Code(409, "not_sealed", "counts were handed in for a survey that is not sealed", "seal it, and count all of it"),
    Code(409, "round_not_next", "an earlier round is missing or open, or the round has another question",
         "close the earlier one; read the rounds again"),
    Code(409, "rounds_spent", "all rounds of a panel have been asked", "make a panel of more rounds"),
    Code(409, "survey_panel", "a panel has no reports of its own", "ask for one of its rounds"),
    Code(409, "survey_deleted", "a deleted survey was published again", "change its title: that makes another survey"),
    Code(409, "survey_not_panel", "a round was requested of a survey without rounds", "use its estimate"),
    Code(409, "survey_not_tracking", "periods or a curve were requested of a survey without a calendar",
         "use its estimate"),
    Code(409, "survey_without_groups", "groups were requested of a survey that states none", "use its estimate"),
    Code(409, "survey_not_of_words", "the shares of words were requested of a survey of listed answers",
         "use its estimate"),
    Code(409, "survey_sealed", "the survey, or the period, accepts no more reports", "delete the report"),
    Code(409, "survey_tracking", "a tracking survey has no reports of its own", "ask for its curve, or for a period"),
    Code(409, "too_few_reports", "fewer reports are counted than the survey's minimum", "ask again later"),
    Code(409, "too_much", "the answer would not fit into memory", "fetch it in pages; or estimate elsewhere"),
    Code(410, "statement_gone", "an earlier version, which kept no statements, has deleted the survey",
         "do not answer it; ask its operator for the statement"),
    Code(410, "survey_deleted", "the survey was deleted, with all its reports", "delete the report too"),
    Code(413, "body_too_large", "the body is too long", "send it in parts"),
    Code(415, "compressed_body", "there is a `Content-Encoding`", "leave it out: compressed bodies are not accepted"),
    Code(415, "unsupported_media_type", "`Content-Type` is not one of those accepted", "correct it"),
    Code(422, "bad_message", "a sealed message is cut short, or holds no HTTP request; or its padding is not zeros",
         "seal the request again"),
    Code(422, "cannot_open", "a sealed message was altered, or is sealed to another key than it says",
         "fetch `/v1/keys`, and seal again"),
    Code(422, "foreign_round", "the statement is not a round of this survey", "open it under its own survey"),
    Code(422, "invalid_curve", "the answer or period does not exist; `field` says which",
         "name one that `/curve` lists"),
    Code(422, "invalid_draft", "no survey, round or plan can be made of this; `field` says why", "correct that field"),
    Code(422, "invalid_groups", "a variable, group, answer or population is not the survey's; `field` says which",
         "name one that `/groups` lists; give every share"),
    Code(422, "invalid_labels", "labels do not name each choice once", "send as many as there are choices, or none"),
    Code(422, "invalid_report", "not a report of this survey", "randomize and encode again"),
    Code(422, "invalid_survey", "the statement is not a survey, or not in canonical form", "send what `to_json` gives"),
    Code(422, "invalid_word", "a word is none of the survey's: too long, or of other characters", "correct it"),
    Code(422, "minimum_too_low", "`minimum_reports` is below the operator's", "leave it out, or ask for more"),
    Code(422, "other_reports", "the counts handed in are of more or fewer reports", "export again, and count all"),
    Code(422, "own_relay", "the relay of a survey is at the collector's own address", "name another relay"),
    Code(422, "group_of_a_survey", "the survey of a group was published by itself", "publish the whole survey"),
    Code(422, "period_of_a_survey", "a period was published as a survey of its own", "publish its tracking survey"),
    Code(422, "round_of_a_panel", "a round was published as a survey of its own", "open it under its panel"),
    Code(422, "start_in_the_past", "a new tracking survey starts before today, by the collector's clock",
         "let it start today or later"),
    Code(422, "too_many_counters", "its counts do not fit into memory", "ask for fewer values, or another mechanism"),
    Code(422, "unexpected_attachment", "the attachments are not those the survey names", "send exactly those it names"),
    Code(422, "unknown_key", "a message is sealed to a key that the collector does not hold, or not any more",
         "fetch `/v1/keys`, and seal again"),
    Code(422, "unknown_suite", "a message is sealed with other algorithms", "use those that `/v1/keys` names"),
    Code(422, "wrong_attachment", "an attachment is not base64", "correct it"),
    Code(429, "too_many_requests", "more than `max_reports_per_second` for this survey", "wait `Retry-After`"),
    Code(500, "internal", "an unexpected error", "see the service's log; report it"),
    Code(503, "log_behind", "the database does not continue the log of surveys that was signed: nothing is published",
         "the operator: put the latest database back; the service's log says how"),
    Code(503, "busy", "too many estimates, plans or tables are in progress, or it stops", "wait `Retry-After`"),
    Code(503, "clock_in_doubt", "the database's clock and the service's differ, or one was just set: no period moves",
         "set both by NTP; a device sends the same again later"),
    Code(503, "not_ready", "`/readyz`: reports cannot be stored now", "wait; see the service's log"),
    Code(503, "overloaded", "`queue_reports` are queued, or the service is stopping", "wait `Retry-After`"),
    Code(503, "store_failed", "the database failed unexpectedly", "look into the service's log"),
    Code(503, "store_unavailable", "the database is unavailable or locked", "wait `Retry-After`"),
    Code(503, "too_many_streams", "64 event streams are open in this process, or it is stopping",
         "ask for the status; wait `Retry-After`"),
    Code(507, "storage_full", "the disk or the quota is full; nothing was stored", "free space; devices send again"),
)  # fmt: skip
"""In the one error shape, in the order of their statuses."""

BODIES = (
    Code(400, "bad_batch", "the bytes are not a batch: wrong header, or not a whole number of rows", "encode again"),
    Code(
        400, "bad_json", "the JSON is neither one report nor a list of reports, or has a duplicate name", "correct it"
    ),
    Code(413, "too_many_reports", "more reports than `max_batch_reports`", "send them in several bodies"),
    Code(422, "empty_batch", "a body without a report", "send at least one"),
    Code(422, "survey_panel", "reports were sent to a panel", "send each to the id of its round"),
    Code(422, "relay_only", "a report was sent directly to a survey that states a relay", "send it through the relay"),
    Code(422, "survey_grouped", "reports were sent to a survey with groups", "send each to the id of its group"),
    Code(422, "survey_tracking", "reports were sent to a tracking survey", "send each to the id of its period"),
    Code(422, "wrong_survey", "the batch belongs to another survey than the address", "send it there"),
)
"""Why a whole body of reports is refused; beside those above."""

VERDICTS = (
    Code(0, "bad_encoding", "in JSON: not base64url, or with padding or nonzero unused bits", ""),
    Code(0, "bad_id", "in JSON: the id is not 32 hexadecimal digits in lower case", ""),
    Code(0, "bad_report", "no device that follows the survey can send this payload", ""),
    Code(0, "wrong_length", "in JSON, or sealed: this survey's reports have another length", ""),
    Code(0, "wrong_survey", "the report's first 4 bytes are another survey's", ""),
)
"""Why one report of a body is refused, which keeps none of the others out."""

SEALED = (
    Code(0, "bad_message", "what was sealed is not an HTTP request, or its padding is not zeros", ""),
    Code(0, "cannot_open", "the message was altered, or is sealed to another key than it says", ""),
    Code(0, "no_report", "the request inside does not send a report to the address of its survey", ""),
    Code(0, "unknown_key", "the collector does not hold the key it is sealed to, or not any more", ""),
    Code(0, "unknown_suite", "it is sealed with other algorithms", ""),
)
"""Why one sealed message of a batch is refused, beside the reasons for reports and for bodies of reports."""

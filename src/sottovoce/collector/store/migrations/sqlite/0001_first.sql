-- Surveys, reports on their way, counted reports, and who may read them.

CREATE TABLE surveys (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    canonical BLOB NOT NULL,
    signature BLOB NOT NULL,
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    epsilon REAL NOT NULL,
    minimum_reports INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    parent TEXT REFERENCES surveys (id),
    round INTEGER,
    labels TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'sealed', 'deleted')),
    UNIQUE (parent, round),
    CHECK ((parent IS NULL) = (round IS NULL))
) STRICT;

CREATE TABLE attachments (
    digest TEXT NOT NULL PRIMARY KEY,
    content BLOB NOT NULL
) STRICT;

CREATE TABLE survey_attachments (
    survey INTEGER NOT NULL REFERENCES surveys (number),
    digest TEXT NOT NULL REFERENCES attachments (digest),
    PRIMARY KEY (survey, digest)
) STRICT;

CREATE INDEX survey_attachments_by_digest ON survey_attachments (digest);

CREATE TABLE waiting (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    survey INTEGER NOT NULL REFERENCES surveys (number),
    epoch INTEGER NOT NULL,
    n INTEGER NOT NULL CHECK (n > 0),
    content BLOB NOT NULL
) STRICT;

-- Answers "who waits longest" and "how many wait" without touching the reports.
CREATE INDEX waiting_by_survey ON waiting (survey, number, n);

CREATE TABLE leases (
    survey INTEGER PRIMARY KEY REFERENCES surveys (number),
    holder TEXT NOT NULL,
    token INTEGER NOT NULL,
    expires REAL NOT NULL
) STRICT;

CREATE TABLE segments (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    survey INTEGER NOT NULL REFERENCES surveys (number),
    epoch INTEGER NOT NULL,
    n INTEGER NOT NULL CHECK (n > 0),
    checkpointed INTEGER NOT NULL CHECK (checkpointed IN (0, 1))
) STRICT;

CREATE INDEX segments_by_survey ON segments (survey, number);

-- Long content lies in parts: no database takes values of any length.
CREATE TABLE segment_parts (
    segment INTEGER NOT NULL REFERENCES segments (number) ON DELETE CASCADE,
    field TEXT NOT NULL CHECK (field IN ('ids', 'payloads')),
    part INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (segment, field, part)
) STRICT;

CREATE TABLE checkpoints (
    survey INTEGER PRIMARY KEY REFERENCES surveys (number),
    n INTEGER NOT NULL
) STRICT;

CREATE TABLE checkpoint_parts (
    survey INTEGER NOT NULL REFERENCES checkpoints (survey) ON DELETE CASCADE,
    part INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (survey, part)
) STRICT;

CREATE TABLE tokens (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    digest BLOB NOT NULL,
    scopes TEXT NOT NULL,
    note TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    revoked INTEGER NOT NULL CHECK (revoked IN (0, 1))
) STRICT;

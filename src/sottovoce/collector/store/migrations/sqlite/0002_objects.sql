-- Counted reports of epochs that are over may lie in object storage; a segment then names its object.

-- One that no segment names is being written (until it expires), or is to be removed.
CREATE TABLE objects (
    name TEXT NOT NULL PRIMARY KEY,
    survey INTEGER NOT NULL REFERENCES surveys (number),
    sha256 TEXT NOT NULL,
    length INTEGER NOT NULL CHECK (length > 0),
    expires REAL NOT NULL,
    due INTEGER NOT NULL CHECK (due IN (0, 1))
) STRICT;

CREATE INDEX objects_by_survey ON objects (survey);

ALTER TABLE segments ADD COLUMN object TEXT REFERENCES objects (name);

CREATE INDEX segments_by_object ON segments (object) WHERE object IS NOT NULL;

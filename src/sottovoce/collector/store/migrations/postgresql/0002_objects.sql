-- Counted reports of epochs that are over may lie in object storage; a segment then names its object.

-- One that no segment names is being written (until it expires), or is to be removed.
CREATE TABLE objects (
    name text NOT NULL PRIMARY KEY,
    survey bigint NOT NULL REFERENCES surveys (number),
    sha256 text NOT NULL,
    length bigint NOT NULL CHECK (length > 0),
    expires double precision NOT NULL,
    due bigint NOT NULL CHECK (due IN (0, 1))
);

CREATE INDEX objects_by_survey ON objects (survey);

ALTER TABLE segments ADD COLUMN object text REFERENCES objects (name);

CREATE INDEX segments_by_object ON segments (object) WHERE object IS NOT NULL;

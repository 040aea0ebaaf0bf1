-- The log of publications, which only grows: positions are given from 0 without a gap, and no entry ever goes away.

CREATE TABLE log_entries (
    position bigint NOT NULL PRIMARY KEY CHECK (position >= 0),
    event text NOT NULL CHECK (event IN ('published')),
    survey text NOT NULL REFERENCES surveys (id),
    UNIQUE (survey, event)
);

-- What was published before, in that order. Periods are left out: they follow from the survey they belong to.
INSERT INTO log_entries (position, event, survey)
SELECT ROW_NUMBER() OVER (ORDER BY s.number) - 1, 'published', s.id
FROM surveys s LEFT JOIN surveys p ON p.id = s.parent
WHERE p.kind IS NULL OR p.kind <> 'tracking';

-- The public key that signs the surveys: at most one row, none before a service has started with this database.
CREATE TABLE signer (
    single bigint NOT NULL PRIMARY KEY CHECK (single = 1),
    public bytea NOT NULL
);

-- Seconds since 1970 after which a token opens nothing; none for one that does not expire.
ALTER TABLE tokens ADD COLUMN expires bigint;

-- Deleted surveys of which something is left. A deletion says so first, then removes rows in small transactions.

CREATE TABLE erasures (
    survey INTEGER PRIMARY KEY REFERENCES surveys (number)
) STRICT;

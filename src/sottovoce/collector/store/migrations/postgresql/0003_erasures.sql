-- Deleted surveys of which something is left. A deletion says so first, then removes rows in small transactions.

CREATE TABLE erasures (
    survey bigint PRIMARY KEY REFERENCES surveys (number)
);

-- Room that is given up when the disk is full. Unlogged: filling it writes no log, and a server that stopped because its
-- log had no room empties it before it starts again. Of fixed and short width: emptying it then takes no block.
CREATE UNLOGGED TABLE ballast (content character(400) NOT NULL);
CREATE UNLOGGED TABLE headroom (content character(400) NOT NULL);

-- How long the ballast was when it was last whole.
CREATE TABLE reserve (bytes bigint NOT NULL);
INSERT INTO reserve VALUES (0);

-- Enabled while the ballast is given up, for all servers at once: reports and counts must not take the room.
CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE 'the reserve of room is given up' USING ERRCODE = 'disk_full', CONSTRAINT = 'no_room'; END $$;

CREATE TRIGGER no_room BEFORE INSERT ON waiting FOR EACH STATEMENT EXECUTE FUNCTION no_room();
CREATE TRIGGER no_room BEFORE INSERT ON segments FOR EACH STATEMENT EXECUTE FUNCTION no_room();
CREATE TRIGGER no_room BEFORE INSERT ON surveys FOR EACH STATEMENT EXECUTE FUNCTION no_room();
ALTER TABLE waiting DISABLE TRIGGER no_room;
ALTER TABLE segments DISABLE TRIGGER no_room;
ALTER TABLE surveys DISABLE TRIGGER no_room;

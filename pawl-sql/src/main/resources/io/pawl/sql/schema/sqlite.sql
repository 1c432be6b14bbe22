-- Pawl's tables for SQLite, version 5. Times are UTC. Read freely, write never.

CREATE TABLE IF NOT EXISTS pawl_lock (
  name       TEXT    NOT NULL PRIMARY KEY COLLATE BINARY,
  kind       TEXT    NOT NULL,  -- lock or semaphore of <n>; empty until it is first granted
  last_token INTEGER NOT NULL,  -- the largest fencing token granted: deleted rows leave it to pawl_forgotten
  holders    TEXT    NOT NULL,  -- JSON: who holds it, since when, until when, under which tokens
  queued     INTEGER NOT NULL,  -- 1 where claims stand in pawl_waiter
  withdrawn  TEXT    NOT NULL,  -- JSON: claims that must not be granted should they still arrive
  used       TEXT    NOT NULL   -- when the row was last written
) WITHOUT ROWID;

-- The claims that wait. Those that joined at once share a row, which nobody else writes but to serve or drop them.
CREATE TABLE IF NOT EXISTS pawl_waiter (
  position  INTEGER PRIMARY KEY,  -- the smallest of a lock is the next
  lock_name TEXT NOT NULL,
  claims    TEXT NOT NULL  -- JSON: who waits, the next first, since when, until when unless its client asks before
);

CREATE INDEX IF NOT EXISTS pawl_waiter_by_lock ON pawl_waiter (lock_name);

-- Counters. At every moment value = forgotten + sum(delta) over the counter's ledger.
CREATE TABLE IF NOT EXISTS pawl_counter (
  name      TEXT NOT NULL,
  value     INTEGER NOT NULL,  -- what can be taken, floor included
  floor     INTEGER NOT NULL,  -- value is never less
  ceiling   INTEGER NOT NULL,  -- value + reserved are never more
  reserved  INTEGER NOT NULL,  -- the sum of open reservations
  forgotten INTEGER NOT NULL,  -- the sum of the changes that the ledger no longer has
  kept_from TEXT NOT NULL,  -- operations first made before this are refused; 1970: none were forgotten
  last_line INTEGER NOT NULL,  -- the number of the latest line of its ledger
  PRIMARY KEY (name)
) WITHOUT ROWID;

-- One line for each operation, entered in the transaction that changed the counter.
CREATE TABLE IF NOT EXISTS pawl_ledger (
  counter   TEXT NOT NULL,
  id        TEXT NOT NULL,  -- of the operation: applied once
  line      INTEGER NOT NULL,  -- counted up, from 1
  operation TEXT NOT NULL,  -- what was asked: add -3, set 10, reserve 2 60000 (ms)
  status    TEXT NOT NULL,  -- applied, refused, reserved, confirmed, cancelled, expired, never
  delta     INTEGER NOT NULL,  -- what it adds to value now
  value     INTEGER NOT NULL,  -- just after it was decided
  at        TEXT NOT NULL,  -- when it was decided
  issued    TEXT,  -- when its id was first used, by the client
  until     TEXT,  -- the deadline of a reservation
  PRIMARY KEY (counter, id)
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS pawl_ledger_by_line ON pawl_ledger (counter, line);

-- The open reservations, in the order in which they are due.
CREATE TABLE IF NOT EXISTS pawl_reservation (
  counter   TEXT NOT NULL,
  until     TEXT NOT NULL,  -- when it is due
  id        TEXT NOT NULL,
  PRIMARY KEY (counter, until, id)
) WITHOUT ROWID;

-- What was forgotten by purging, one row. The row of a lock that is not known begins with last_token.
CREATE TABLE IF NOT EXISTS pawl_forgotten (
  one        INTEGER NOT NULL PRIMARY KEY,  -- always 1
  last_token INTEGER NOT NULL,  -- no smaller than the largest fencing token of any lock that was forgotten
  locks      INTEGER NOT NULL   -- how many were forgotten
);

INSERT OR IGNORE INTO pawl_forgotten (one, last_token, locks) VALUES (1, 0, 0);

-- One row for each step that was applied.
CREATE TABLE IF NOT EXISTS pawl_schema (
  version    INTEGER NOT NULL PRIMARY KEY,
  usable_by  INTEGER NOT NULL  -- the oldest version whose clients may use the tables from then on
);

INSERT OR IGNORE INTO pawl_schema (version, usable_by) VALUES (5, 5);

-- The monotonic clock of the host, as milliseconds since 1970: offset + clock, within one boot.
CREATE TABLE IF NOT EXISTS pawl_clock (
  boot          TEXT    NOT NULL PRIMARY KEY,
  offset_millis INTEGER NOT NULL
) WITHOUT ROWID;

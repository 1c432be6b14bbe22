-- Pawl's tables for SQLite, version 1. Times are UTC. Read freely, write never.

CREATE TABLE IF NOT EXISTS pawl_lock (
  name       TEXT    NOT NULL PRIMARY KEY COLLATE BINARY,
  kind       TEXT    NOT NULL,  -- lock or semaphore of <n>; empty until it is first granted
  last_token INTEGER NOT NULL,  -- the largest fencing token granted; a row is never deleted
  holders    TEXT    NOT NULL,  -- JSON: who holds it, since when, until when, under which tokens
  waiters    TEXT    NOT NULL,  -- JSON: who waits, the next first
  withdrawn  TEXT    NOT NULL   -- JSON: claims that must not be granted should they still arrive
) WITHOUT ROWID;

-- The monotonic clock of the host, as milliseconds since 1970: offset + clock, within one boot.
CREATE TABLE IF NOT EXISTS pawl_clock (
  boot          TEXT    NOT NULL PRIMARY KEY,
  offset_millis INTEGER NOT NULL
) WITHOUT ROWID;

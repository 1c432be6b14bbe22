-- Pawl's tables for PostgreSQL 13 and later, version 1. Times are UTC. Read freely, write never.
-- Privileges in use: SELECT, INSERT, UPDATE on both tables; CREATE on the schema only for these
-- statements. Names are compared byte for byte.

CREATE TABLE IF NOT EXISTS pawl_lock (
  name       text COLLATE "C" NOT NULL PRIMARY KEY,
  kind       text   NOT NULL,  -- lock or semaphore of <n>; empty until it is first granted
  last_token bigint NOT NULL,  -- the largest fencing token granted, a row is never deleted
  holders    text   NOT NULL,  -- JSON: who holds it, since when, until when, under which tokens
  waiters    text   NOT NULL,  -- JSON: who waits, the next first
  withdrawn  text   NOT NULL   -- JSON: claims that must not be granted should they still arrive
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

CREATE TABLE IF NOT EXISTS pawl_schema (
  version integer NOT NULL PRIMARY KEY
);

INSERT INTO pawl_schema (version) VALUES (1) ON CONFLICT DO NOTHING;

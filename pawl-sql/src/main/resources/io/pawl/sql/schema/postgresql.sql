-- Pawl's tables for PostgreSQL 13 and later, version 3. Times are UTC. Read freely, write never.
-- Privileges in use: SELECT, INSERT, UPDATE on all tables, DELETE on pawl_waiter, on pawl_ledger and
-- pawl_reservation too for counters with reservations or pruning, on pawl_lock for purging; CREATE on the
-- schema only for these statements. Names are compared byte for byte.

CREATE TABLE IF NOT EXISTS pawl_lock (
  name       text COLLATE "C" NOT NULL PRIMARY KEY,
  kind       text   NOT NULL,  -- lock or semaphore of <n>; empty until it is first granted
  last_token bigint NOT NULL,  -- the largest fencing token granted: deleted rows leave it to pawl_forgotten
  holders    text   NOT NULL,  -- JSON: who holds it, since when, until when, under which tokens
  withdrawn  text   NOT NULL,  -- JSON: claims that must not be granted should they still arrive
  used       timestamp(3) NOT NULL  -- when the row was last written
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- One row for each claim that waits. Whoever joins inserts it, and nobody else writes it but to serve or drop it.
CREATE TABLE IF NOT EXISTS pawl_waiter (
  position        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,  -- the smallest of a lock is the next
  lock_name       text COLLATE "C" NOT NULL,
  claim           text COLLATE "C" NOT NULL,
  mode            text         NOT NULL,  -- exclusive, shared, or wanted/capacity of a semaphore
  since           timestamp(3) NOT NULL,  -- when it joined
  until           timestamp(3) NOT NULL,  -- when it is dropped, unless its client asks before
  lease_millis    bigint       NOT NULL,
  min_hold_millis bigint       NOT NULL,
  tokens          integer      NOT NULL,  -- how many it asks for
  token_floor     bigint       NOT NULL,  -- its tokens are larger
  host            text         NOT NULL,
  pid             bigint       NOT NULL,
  thread          text         NOT NULL,
  application     text         NOT NULL,
  note            text         NOT NULL,
  CONSTRAINT pawl_waiter_by_lock UNIQUE (lock_name, claim)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- Counters. At every moment value = forgotten + sum(delta) over the counter's ledger.
CREATE TABLE IF NOT EXISTS pawl_counter (
  name      text COLLATE "C" NOT NULL,
  value     bigint NOT NULL,  -- what can be taken, floor included
  floor     bigint NOT NULL,  -- value is never less
  ceiling   bigint NOT NULL,  -- value + reserved are never more
  reserved  bigint NOT NULL,  -- the sum of open reservations
  forgotten bigint NOT NULL,  -- the sum of the changes that the ledger no longer has
  kept_from timestamp(3) NOT NULL,  -- operations first made before this are refused; 1970: none were forgotten
  last_line bigint NOT NULL,  -- the number of the latest line of its ledger
  PRIMARY KEY (name)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- One line for each operation, entered in the transaction that changed the counter.
CREATE TABLE IF NOT EXISTS pawl_ledger (
  counter   text COLLATE "C" NOT NULL,
  id        text COLLATE "C" NOT NULL,  -- of the operation: applied once
  line      bigint NOT NULL,  -- counted up, from 1
  operation text NOT NULL,  -- what was asked: add -3, set 10, reserve 2 60000 (ms)
  status    text NOT NULL,  -- applied, refused, reserved, confirmed, cancelled, expired, never
  delta     bigint NOT NULL,  -- what it adds to value now
  value     bigint NOT NULL,  -- just after it was decided
  at        timestamp(3) NOT NULL,  -- when it was decided
  issued    timestamp(3),  -- when its id was first used, by the client
  until     timestamp(3),  -- the deadline of a reservation
  PRIMARY KEY (counter, id)
);

CREATE INDEX IF NOT EXISTS pawl_ledger_by_line ON pawl_ledger (counter, line);

-- The open reservations, in the order in which they are due.
CREATE TABLE IF NOT EXISTS pawl_reservation (
  counter   text COLLATE "C" NOT NULL,
  until     timestamp(3) NOT NULL,  -- when it is due
  id        text COLLATE "C" NOT NULL,
  PRIMARY KEY (counter, until, id)
);

-- What was forgotten by purging, one row. The row of a lock that is not known begins with last_token.
CREATE TABLE IF NOT EXISTS pawl_forgotten (
  one        integer NOT NULL PRIMARY KEY,  -- always 1
  last_token bigint  NOT NULL,  -- no smaller than the largest fencing token of any lock that was forgotten
  locks      bigint  NOT NULL   -- how many were forgotten
);

INSERT INTO pawl_forgotten (one, last_token, locks) VALUES (1, 0, 0) ON CONFLICT DO NOTHING;

-- One row for each step that was applied.
CREATE TABLE IF NOT EXISTS pawl_schema (
  version    integer NOT NULL PRIMARY KEY,
  usable_by  integer NOT NULL  -- the oldest version whose clients may use the tables from then on
);

INSERT INTO pawl_schema (version, usable_by) VALUES (3, 3) ON CONFLICT DO NOTHING;

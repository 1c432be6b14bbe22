-- Pawl's tables for MySQL 8.0.19 and later, version 5. Times are UTC. Read freely, write never.
-- Privileges in use: SELECT, INSERT, UPDATE on all tables, DELETE on pawl_waiter, on pawl_ledger and
-- pawl_reservation too for counters with reservations or pruning, on pawl_lock for purging; CREATE and ALTER
-- only for these statements.

CREATE TABLE IF NOT EXISTS pawl_lock (
  name       VARCHAR(512) NOT NULL PRIMARY KEY,
  kind       VARCHAR(32)  NOT NULL COMMENT 'lock or semaphore of <n>, empty until it is first granted',
  last_token BIGINT       NOT NULL COMMENT 'the largest fencing token granted: deleted rows leave it to pawl_forgotten',
  holders    MEDIUMTEXT   NOT NULL COMMENT 'JSON: who holds it, since when, until when, under which tokens',
  queued     TINYINT      NOT NULL COMMENT '1 where claims stand in pawl_waiter',
  withdrawn  MEDIUMTEXT   NOT NULL COMMENT 'JSON: claims that must not be granted should they still arrive',
  used       DATETIME(3)  NOT NULL COMMENT 'when the row was last written'
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- The claims that wait. Those that joined at once share a row, which nobody else writes but to serve or drop them.
CREATE TABLE IF NOT EXISTS pawl_waiter (
  position  BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'the smallest of a lock is the next',
  lock_name VARCHAR(512) NOT NULL,
  claims    MEDIUMTEXT   NOT NULL COMMENT 'JSON: who waits, the next first, since when, until when unless its client asks before',
  KEY pawl_waiter_by_lock (lock_name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- Counters. At every moment value = forgotten + sum(delta) over the counter's ledger.
CREATE TABLE IF NOT EXISTS pawl_counter (
  name      VARCHAR(512) NOT NULL,
  value     BIGINT NOT NULL COMMENT 'what can be taken, floor included',
  floor     BIGINT NOT NULL COMMENT 'value is never less',
  ceiling   BIGINT NOT NULL COMMENT 'value + reserved are never more',
  reserved  BIGINT NOT NULL COMMENT 'the sum of open reservations',
  forgotten BIGINT NOT NULL COMMENT 'the sum of the changes that the ledger no longer has',
  kept_from DATETIME(3) NOT NULL COMMENT 'operations first made before this are refused; 1970: none were forgotten',
  last_line BIGINT NOT NULL COMMENT 'the number of the latest line of its ledger',
  PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- One line for each operation, entered in the transaction that changed the counter.
CREATE TABLE IF NOT EXISTS pawl_ledger (
  counter   VARCHAR(512) NOT NULL,
  id        VARCHAR(250) NOT NULL COMMENT 'of the operation: applied once',
  line      BIGINT NOT NULL COMMENT 'counted up, from 1',
  operation VARCHAR(60) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'what was asked: add -3, set 10, reserve 2 60000 (ms)',
  status    VARCHAR(9) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'applied, refused, reserved, confirmed, cancelled, expired, never',
  delta     BIGINT NOT NULL COMMENT 'what it adds to value now',
  value     BIGINT NOT NULL COMMENT 'just after it was decided',
  at        DATETIME(3) NOT NULL COMMENT 'when it was decided',
  issued    DATETIME(3) COMMENT 'when its id was first used, by the client',
  until     DATETIME(3) COMMENT 'the deadline of a reservation',
  PRIMARY KEY (counter, id),
  KEY pawl_ledger_by_line (counter, line)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- The open reservations, in the order in which they are due.
CREATE TABLE IF NOT EXISTS pawl_reservation (
  counter   VARCHAR(512) NOT NULL,
  until     DATETIME(3) NOT NULL COMMENT 'when it is due',
  id        VARCHAR(250) NOT NULL,
  PRIMARY KEY (counter, until, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- What was forgotten by purging, one row. The row of a lock that is not known begins with last_token.
CREATE TABLE IF NOT EXISTS pawl_forgotten (
  one        TINYINT NOT NULL PRIMARY KEY COMMENT 'always 1',
  last_token BIGINT  NOT NULL COMMENT 'no smaller than the largest fencing token of any lock that was forgotten',
  locks      BIGINT  NOT NULL COMMENT 'how many were forgotten'
) ENGINE = InnoDB;

INSERT IGNORE INTO pawl_forgotten (one, last_token, locks) VALUES (1, 0, 0);

-- One row for each step that was applied. Names are compared byte for byte, trailing spaces included.
CREATE TABLE IF NOT EXISTS pawl_schema (
  version    INT NOT NULL PRIMARY KEY,
  usable_by  INT NOT NULL COMMENT 'the oldest version whose clients may use the tables from then on'
) ENGINE = InnoDB;

INSERT IGNORE INTO pawl_schema (version, usable_by) VALUES (5, 5);

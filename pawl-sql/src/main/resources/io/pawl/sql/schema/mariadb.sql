-- Pawl's tables for MariaDB 10.6 and later, version 2. Times are UTC. Read freely, write never.
-- Privileges in use: SELECT, INSERT, UPDATE on all tables, DELETE on pawl_waiter, on pawl_ledger and
-- pawl_reservation too for counters with reservations or forgetting; CREATE only for these statements.

CREATE TABLE IF NOT EXISTS pawl_lock (
  name       VARCHAR(512) NOT NULL PRIMARY KEY,
  kind       VARCHAR(32)  NOT NULL COMMENT 'lock or semaphore of <n>, empty until it is first granted',
  last_token BIGINT       NOT NULL COMMENT 'the largest fencing token granted, a row is never deleted',
  holders    MEDIUMTEXT   NOT NULL COMMENT 'JSON: who holds it, since when, until when, under which tokens',
  withdrawn  MEDIUMTEXT   NOT NULL COMMENT 'JSON: claims that must not be granted should they still arrive'
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- One row for each claim that waits. Whoever joins inserts it, and nobody else writes it but to serve or drop it.
CREATE TABLE IF NOT EXISTS pawl_waiter (
  position        BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'the smallest of a lock is the next',
  lock_name       VARCHAR(512) NOT NULL,
  claim           VARCHAR(90)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  mode            VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'exclusive, shared, or wanted/capacity of a semaphore',
  since           DATETIME(3)  NOT NULL COMMENT 'when it joined',
  until           DATETIME(3)  NOT NULL COMMENT 'when it is dropped, unless its client asks before',
  lease_millis    BIGINT       NOT NULL,
  min_hold_millis BIGINT       NOT NULL,
  tokens          INT          NOT NULL COMMENT 'how many it asks for',
  token_floor     BIGINT       NOT NULL COMMENT 'its tokens are larger',
  host            VARCHAR(256) NOT NULL,
  pid             BIGINT       NOT NULL,
  thread          VARCHAR(256) NOT NULL,
  application     VARCHAR(256) NOT NULL,
  note            VARCHAR(256) NOT NULL,
  UNIQUE KEY pawl_waiter_by_lock (lock_name, claim)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Counters. At every moment value = forgotten + sum(delta) over the counter's ledger.
CREATE TABLE IF NOT EXISTS pawl_counter (
  name      VARCHAR(512) NOT NULL,
  value     BIGINT NOT NULL COMMENT 'what can be taken, floor included',
  floor     BIGINT NOT NULL COMMENT 'value is never less',
  ceiling   BIGINT NOT NULL COMMENT 'value + reserved are never more',
  reserved  BIGINT NOT NULL COMMENT 'the sum of open reservations',
  forgotten BIGINT NOT NULL COMMENT 'the sum of the changes that the ledger no longer has',
  kept_from VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'operations first made before this are refused; empty: none were forgotten',
  last_line BIGINT NOT NULL COMMENT 'the number of the latest line of its ledger',
  PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- One line for each operation, entered in the transaction that changed the counter.
CREATE TABLE IF NOT EXISTS pawl_ledger (
  counter   VARCHAR(512) NOT NULL,
  id        VARCHAR(250) NOT NULL COMMENT 'of the operation: applied once',
  line      BIGINT NOT NULL COMMENT 'counted up, from 1',
  operation VARCHAR(60) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'what was asked: add -3, set 10, reserve 2 60000 (ms)',
  status    VARCHAR(9) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'applied, refused, reserved, confirmed, cancelled, expired, never',
  delta     BIGINT NOT NULL COMMENT 'what it adds to value now',
  value     BIGINT NOT NULL COMMENT 'just after it was decided',
  at        VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'when it was decided',
  issued    VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'when its id was first used, by the client',
  until     VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'the deadline of a reservation, else empty',
  PRIMARY KEY (counter, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- The open reservations, in the order in which they are due.
CREATE TABLE IF NOT EXISTS pawl_reservation (
  counter   VARCHAR(512) NOT NULL,
  until     VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'when it is due',
  id        VARCHAR(250) NOT NULL,
  PRIMARY KEY (counter, until, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Names are compared byte for byte, trailing spaces included.
CREATE TABLE IF NOT EXISTS pawl_schema (
  version INT NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

INSERT IGNORE INTO pawl_schema (version) VALUES (2);

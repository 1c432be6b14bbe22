-- Pawl's tables for MariaDB 10.6 and later, version 1. Times are UTC. Read freely, write never.
-- Privileges in use: SELECT, INSERT, UPDATE on both tables; CREATE only for these statements.

CREATE TABLE IF NOT EXISTS pawl_lock (
  name       VARCHAR(512) NOT NULL PRIMARY KEY,
  kind       VARCHAR(32)  NOT NULL COMMENT 'lock or semaphore of <n>, empty until it is first granted',
  last_token BIGINT       NOT NULL COMMENT 'the largest fencing token granted, a row is never deleted',
  holders    MEDIUMTEXT   NOT NULL COMMENT 'JSON: who holds it, since when, until when, under which tokens',
  waiters    MEDIUMTEXT   NOT NULL COMMENT 'JSON: who waits, the next first',
  withdrawn  MEDIUMTEXT   NOT NULL COMMENT 'JSON: claims that must not be granted should they still arrive'
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Names are compared byte for byte, trailing spaces included.
CREATE TABLE IF NOT EXISTS pawl_schema (
  version INT NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

INSERT IGNORE INTO pawl_schema (version) VALUES (1);

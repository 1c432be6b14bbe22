-- For SqlFence.check, in the application's database: the largest token seen of each resource.
CREATE TABLE IF NOT EXISTS pawl_fence (
  name  VARCHAR(512) NOT NULL PRIMARY KEY,
  token BIGINT       NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

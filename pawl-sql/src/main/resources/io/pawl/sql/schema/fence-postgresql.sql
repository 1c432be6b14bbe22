-- For SqlFence.check, in the application's database: the largest token seen of each resource.
CREATE TABLE IF NOT EXISTS pawl_fence (
  name  text COLLATE "C" NOT NULL PRIMARY KEY,
  token bigint NOT NULL
);

-- For SqlFence.check, in the application's database: the largest token seen of each resource.
CREATE TABLE IF NOT EXISTS pawl_fence (
  name  TEXT    NOT NULL PRIMARY KEY COLLATE BINARY,
  token INTEGER NOT NULL
) WITHOUT ROWID;

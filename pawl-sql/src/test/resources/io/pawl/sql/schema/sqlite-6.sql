-- A step that a later version might take.
ALTER TABLE pawl_lock ADD COLUMN tenant VARCHAR(20) NOT NULL DEFAULT '';
ALTER TABLE pawl_ledger ADD COLUMN tenant VARCHAR(20);
CREATE INDEX pawl_ledger_by_tenant ON pawl_ledger (tenant);
INSERT OR IGNORE INTO pawl_schema (version, usable_by) VALUES (6, 5);

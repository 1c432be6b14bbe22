-- A step that a later version might take.
ALTER TABLE pawl_lock ADD COLUMN IF NOT EXISTS tenant VARCHAR(20) NOT NULL DEFAULT '';
ALTER TABLE pawl_ledger ADD COLUMN IF NOT EXISTS tenant VARCHAR(20);
CREATE INDEX IF NOT EXISTS pawl_ledger_by_tenant ON pawl_ledger (tenant);
INSERT INTO pawl_schema (version, usable_by) VALUES (6, 5) ON CONFLICT DO NOTHING;

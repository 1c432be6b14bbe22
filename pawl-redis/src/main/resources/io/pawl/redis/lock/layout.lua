-- What the fields of a lock's hash hold, packed by Redis' struct library: numbers are doubles, exact
-- up to 2^53, since packing is several times cheaper than digits. Loaded into a script in place of
-- the line that names this file, like rule.lua; show.lua spells it out for people.
--
-- IDLE     field .  of a lock without claims: last token, time of this writing, expiry of the key,
--                   and the capacity: how many permits, 0 for a lock, -1 until the first grant
-- BUSY     field .  of any other; besides: units in use, the earliest end of a hold (or before it),
--                   when to look for the dead in a full line; numbers of holders, waiters, withdrawn;
--                   first and last run of the line; first and last holder, first and last withdrawn
-- CLAIM    field e:<id>: its list, a letter: h(olds), w(aits) or g(one, withdrawn); until; lease,
--                   tokens and floor as asked; since; first and last token; its run of the line;
--                   previous and next of holders or withdrawn; mode; address of its bell; and then,
--                   to the end, who it is for people
-- LEAST    follows the address in a claim whose letter is a capital: how long its hold lasts at least.
--                   H(olds), W(aits), or L(ingers): a hold that its owner has ended before that, and
--                   which in place of the run has when a late attempt may come, 0 where none is due
-- RUN      field q:<number>, claims of one client and mode that stand in line one behind the other:
--                   previous and next run; the earliest end among them (or before it); how many;
--                   mode; client; and then, to the end, their numbers in order, as in ",7,8,12,"

local IDLE = '<dddi4'
local BUSY = '<dddi4ddddddddssss'
local CLAIM = '<c1ddddddddssss'
local LEAST = '<d'
local RUN = '<ddddss'
local IDLE_BYTES = struct.size(IDLE)

-- Forgets ids that were first used before a time, some lines of the ledger at a time.
--
-- ARGV[1]  see counter.lua
-- ARGV[2]  the time, in ms
-- ARGV[3]  number of the first line to look at, 0 for the first of all
-- ARGV[4]  number of the line to stop before, 0 for the end
-- Answers  0 where there is no such counter, AGAIN, TO_COME with the server's time where that is earlier,
--          or 1; then how many were forgotten; then the line to go on with and the one to stop before,
--          the same at the end

local LINES = 500

-- counter/counter.lua

local c = open(KEYS[1], {})
if c.new then
  return {NO_COUNTER}
end
if tonumber(ARGV[2]) > now then
  return {TO_COME, now}
end
if not settle(c) then
  save()
  return {AGAIN}
end
local before, first, stop = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
first = math.max(first, c.first)
stop = stop == 0 and c.next or math.max(stop, first)
local last, pruned = math.min(first + LINES, stop) - 1, 0
eachLine(c, first, last, 1, function(n, _, entry)
  if entry.status ~= 'o' and entry.issued < before then
    put(c, 'q:' .. n, false)
    drop(c, entry)
    pruned = pruned + 1
  end
  return true
end)
while c.first <= last and not get(c, 'q:' .. c.first) do
  c.first = c.first + 1
end
c.from, c.changed = math.max(c.from, before), true
save()
return {1, pruned, last + 1, stop}

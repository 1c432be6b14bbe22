-- Reads a counter and lines of its ledger, newest first. Writes only where more reservations are due than
-- one script returns to stock: a read is answered though the server is short of memory.
--
-- ARGV[1]  see counter.lua
-- ARGV[2]  number of the newest line, 0 for the last
-- ARGV[3]  how many lines at most, up to 1000
-- Answers  0 where there is no such counter, AGAIN, or 1; then the header, and the number of the next
--          line that was not read, 0 where there is none; then per line the id and the entry

-- counter/counter.lua

local c = open(KEYS[1], {})
if c.new then
  return {NO_COUNTER}
end
if not settle(c) then
  save()
  return {AGAIN}
end
local newest, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
newest = newest == 0 and c.next - 1 or newest
local oldest = math.max(c.first, newest - limit + 1)
local answer = {1, header(c), oldest > c.first and oldest - 1 or 0}
eachLine(c, newest, oldest, -1, function(_, _, entry)
  answer[#answer + 1] = entry.id
  answer[#answer + 1] = entry.text
  return true
end)
return answer

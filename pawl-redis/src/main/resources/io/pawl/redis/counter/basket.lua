-- Operations under one id on several counters, all or none.
--
-- ARGV[1]  see counter.lua
-- ARGV[2]  id
-- ARGV[3]  when it was first used, in ms
-- ARGV[4]  1 to remember a refusal
-- then per key: operation, in the words of Java's Operation
-- Answers  what becomes of them (see numbers.lua); of which key that speaks, if of one; from when on its
--          ids are remembered; then their entries, or the one that is in the way

-- counter/counter.lua

-- counter/request.lua

local asks = {}
for i = 1, #KEYS do
  asks[i] = asked(i, ARGV[2], ARGV[i + 4], ARGV[3], ARGV[4])
end
openAll(asks)
local code, entries, which = apply(asks)
save()
local answer = {code, which or 0, format('%.0f', which and asks[which].c.from or 0)}
for i = 1, #entries do
  answer[i + 3] = entries[i].text
end
return answer

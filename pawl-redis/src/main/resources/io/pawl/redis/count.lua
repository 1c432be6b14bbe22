-- Operations on single counters, each decided for itself, in their order.
--
-- ARGV[1]  see counter.lua
-- then per key: id; operation, in the words of Java's Operation; when the id was first used, in ms;
--               1 to remember a refusal
-- Answers  per key: what becomes of it (see counter.lua); its entry, or the one that is in the way, or,
--          if it is too old, from when on ids are remembered

-- counter.lua

-- request.lua

local asks, answers = {}, {}
for i = 1, #KEYS do
  asks[i] = asked(i, ARGV[4 * i - 2], ARGV[4 * i - 1], ARGV[4 * i], ARGV[4 * i + 1])
end
openAll(asks)
for i = 1, #asks do
  local code, entries = apply({asks[i]})
  answers[2 * i - 1] = code
  answers[2 * i] = entries[1] and entries[1].text or format('%.0f', asks[i].c.from)
end
save()
return answers

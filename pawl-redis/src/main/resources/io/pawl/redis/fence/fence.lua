-- Accepts a fencing token unless a larger one was seen, and remembers it; with a value, writes that too.
--
-- KEYS[1]  the largest token of the resource
-- KEYS[2]  where the value belongs, if there is one
-- ARGV[1]  the token
-- ARGV[2]  for how many milliseconds it is remembered
-- ARGV[3]  the value, if there is one
-- Answers  0, or the larger token that was seen

local seen = redis.call('GET', KEYS[1])
if seen and tonumber(seen) > tonumber(ARGV[1]) then
  return tonumber(seen)
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if KEYS[2] then
  redis.call('SET', KEYS[2], ARGV[3])
end
return 0

-- Reads locks as they stand; writes nothing.
--
-- Answers  the server's time in ms; then per key the number of texts that follow, which are the
--          fields and values of its hash as rule.lua explains them

local clock = redis.call('TIME')
local found = {clock[1] * 1000 + math.floor(clock[2] / 1000)}
for i = 1, #KEYS do
  local hash = redis.call('HGETALL', KEYS[i])
  found[#found + 1] = #hash
  for j = 1, #hash do
    found[#found + 1] = hash[j]
  end
end
return found

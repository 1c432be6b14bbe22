-- Ends the hold that has a token, as if it had run out, and grants to the next in line.
--
-- ARGV[1]  address of the calling store
-- ARGV[2]  the token
-- Answers  1 or 0, whether there was such a hold; after it the rings, see rule.lua

-- lock/layout.lua
-- lock/hash.lua
-- lock/rule.lua

local token, evicted = tonumber(ARGV[2]), 0
open(KEYS[1])
settle()
for _, id in ipairs(members('h')) do
  local c = get(id)
  if c.first <= token and token <= c.last then
    drop(c)
    evicted = 1
  end
end
serve()
return answer({evicted})

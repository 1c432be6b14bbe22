-- Keeps held claims alive for another lease each, and waiting ones for as long as they need; tells how
-- each stands.
--
-- ARGV[1]  address of the calling store
-- then per key: claim id
-- Answers  see rule.lua

-- lock/layout.lua
-- lock/hash.lua
-- lock/rule.lua

local standings = {}
for i = 1, #KEYS do
  local id = ARGV[i + 1]
  local token, other = 0, GONE
  open(KEYS[i])
  settle()
  local c = alive(id)
  if c and c.kind ~= 'g' and not c.lingers then
    token, other = renewed(c)
  end
  standings[2 * i - 1], standings[2 * i] = token, other
end
return answer(standings)

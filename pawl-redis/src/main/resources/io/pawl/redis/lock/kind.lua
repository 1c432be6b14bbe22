-- Makes a lock of another kind, or a semaphore of another capacity; serves the line. The key is made
-- where there is none, and then expires as after a release.
--
-- ARGV[1]  address of the calling store
-- ARGV[2]  how many permits; 0 for a lock
-- Answers  1; 0 where a lock would become a semaphore, or a semaphore a lock, and somebody holds it
--          or waits for it; after it the rings, see rule.lua; or IS_A_COUNTER

-- lock/layout.lua
-- lock/hash.lua
-- lock/rule.lua
-- lock/name.lua

local capacity, done = tonumber(ARGV[2]), 0
open(KEYS[1])
if lock.new and isACounter(lock.key) then
  return {IS_A_COUNTER}
end
settle()
for _, id in ipairs(members('w')) do
  local c = get(id)
  if ended(c) or (lock.capacity > 0 and capacity > 0 and share(c.mode) > capacity) then
    drop(c)
  end
end
if lock.hn + lock.wn == 0 or (lock.capacity > 0) == (capacity > 0) then
  lock.capacity, lock.changed, done = capacity, true, 1
  keepBeyond(now)
end
serve()
return answer({done})

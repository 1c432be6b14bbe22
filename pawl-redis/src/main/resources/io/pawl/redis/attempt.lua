-- Takes the lock or a place in line, for each key and its claim; repeating it is harmless.
--
-- ARGV[1]  address of the calling store
-- then per key: claim id; mode: x, s or <wanted>/<capacity>; lease in ms; 1 to queue, 0 not;
--               tokens wanted; token floor; who asks, for people
-- Answers  see rule.lua

local function attempt(id, mode, lease, queues, tokens, floor, info)
  settle()
  local known = alive(id)
  if known then
    if known.kind == 'g' then
      return 0, GONE
    end
    return renewed(known)
  end
  local c = {
    id = id, kind = 'w', till = now + lease, prev = NONE, next = NONE, mode = mode, lease = lease,
    tokens = tokens, floor = floor, since = now, first = 0, last = 0, address = ADDRESS,
    info = info, new = not claims[id],
  }
  if lock.wn == 0 and fits(c) then
    if not grant(c) then
      return 0, TOKENS_USED_UP
    end
  elseif not queues then
    return 0, GONE
  else
    if lock.wn >= MAX_WAITERS and now >= lock.look then
      dropEnded(lock.wf)
      lock.look = now + LOOK_FOR_DEAD_EVERY
    end
    if lock.wn >= MAX_WAITERS then
      return 0, LINE_FULL_ASK_AGAIN
    end
    append('w', c)
  end
  claims[id] = c
  keepBeyond(c.till)
  if c.kind == 'h' then
    return c.first, c.last
  end
  return waiting()
end

local standings = {}
for i = 1, #KEYS do
  local a = 7 * i - 5
  open(KEYS[i], ARGV[a])
  standings[2 * i - 1], standings[2 * i] = attempt(ARGV[a], ARGV[a + 1], tonumber(ARGV[a + 2]),
    ARGV[a + 3] == '1', tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5]), ARGV[a + 6])
  save()
end
return answer(standings)

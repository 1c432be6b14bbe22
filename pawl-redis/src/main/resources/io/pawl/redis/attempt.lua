-- Takes the lock or a place in line, for each key and its claim; repeating it is harmless. For the
-- id of an exclusive claim that is held, mode s is a downgrade.
--
-- ARGV[1]  address of the calling store
-- then per key: claim id; mode: x, s or <wanted>/<capacity>; lease in ms; 1 to queue, 0 not;
--               tokens wanted; token floor; who asks, for people
-- Answers  see rule.lua

local standings = {}
local clock

-- Whether a counter has the name: asked only where there is no hash yet. In a Cluster it can be on
-- another node, and then is not seen.
local function isACounter(key)
  local counter = redis.pcall('HGET', 'pawl:counter:' .. string.sub(key, 11), '.')
  return type(counter) == 'string'
end

-- Short cut: an exclusive claim, for a lock that nobody holds, waits for or has lately withdrawn in
-- doubt, and that is no semaphore. Does just what the rule would do; false where it is not for the
-- i-th claim.
local function takesIdle(i)
  local a = 7 * i - 5
  if ARGV[a + 1] ~= 'x' then
    return false
  end
  local key, id, lease, tokens, floor =
    KEYS[i], ARGV[a], ARGV[a + 2], ARGV[a + 4], ARGV[a + 5]
  local found = redis.call('HMGET', key, '.', 'e:' .. id)
  local last, keep = 0, 0
  if found[1] then
    last, keep = string.match(found[1], '^(%d+) %d+ (%d+)$')
  elseif isACounter(key) then
    last = nil
  end
  if not last or found[2] then
    return false
  end
  clock = clock or redis.call('TIME')
  local micros = clock[1] * 1000000 + clock[2]
  local now = (micros - micros % 1000) / 1000
  local till, first = now + lease, math.max(last + 1, floor + 1, 2 * micros)
  last = first + (math.min(tonumber(tokens), 64) - 1)
  if last >= 9007199254740992 then
    return false
  end
  keep = tonumber(keep)
  local expire = keep < till + 600000
  keep = expire and till + 1200000 or keep
  redis.call('HSET', key, '.',
    string.format('%.0f %.0f %.0f 0 2147483648 %.0f 0 1 %s %s 0 - - 0 - -',
      last, now, keep, till, id, id),
    'e:' .. id,
    string.format('h %.0f - - x %s %s %s %.0f %.0f %.0f %s',
      till, lease, tokens, floor, now, first, last, ARGV[1]),
    'i:' .. id, ARGV[a + 6])
  if expire then
    redis.call('PEXPIREAT', key, string.format('%.0f', keep))
  end
  standings[2 * i - 1], standings[2 * i] = first, last
  return true
end

local rest = 1
while rest <= #KEYS and takesIdle(rest) do
  rest = rest + 1
end
if rest > #KEYS then
  return standings
end

-- rule.lua

local function attempt(id, mode, lease, queues, tokens, floor, info)
  if lock.new and isACounter(lock.key) then
    return 0, IS_A_COUNTER
  end
  settle()
  local known = alive(id)
  if known then
    if known.kind == 'g' then
      return 0, GONE
    end
    if mode == 's' and known.kind == 'h' and known.mode == 'x' then
      known.mode = mode
      lock.used = lock.used - ALL_OF_A_LOCK + 1
      serve()
    end
    return renewed(known)
  end
  local _, capacity = share(mode)
  if lock.capacity ~= ANY_KIND and lock.capacity ~= capacity then
    return 0, OTHER_KIND - lock.capacity
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

for i = rest, #KEYS do
  if i == rest or not takesIdle(i) then
    local a = 7 * i - 5
    open(KEYS[i], ARGV[a])
    standings[2 * i - 1], standings[2 * i] = attempt(ARGV[a], ARGV[a + 1], tonumber(ARGV[a + 2]),
      ARGV[a + 3] == '1', tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5]), ARGV[a + 6])
    save()
  end
end
return answer(standings)

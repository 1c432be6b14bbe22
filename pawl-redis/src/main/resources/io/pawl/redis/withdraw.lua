-- Ends the hold or the wait of each claim and grants to the next in line. Idempotent and final.
--
-- ARGV[1]  address of the calling store
-- then per key: claim id; 0, or its lease in ms if an attempt of it may still arrive: that is
--               refused for the lease, at least a minute
-- Answers  the rings alone, see rule.lua

-- Short cut: the only holder, with nobody in line. Does just what the rule would do, but leaves it
-- to the rule to shorten an expiry that is more than 30 minutes off. False where it is not for the
-- i-th claim.
local function leavesIdle(i)
  if ARGV[2 * i + 1] ~= '0' then
    return false
  end
  local key, id = KEYS[i], ARGV[2 * i]
  local found = redis.call('HMGET', key, '.', 'e:' .. id)
  if not (found[1] and found[2] and string.byte(found[2]) == 104) then
    return false
  end
  local last, at, keep, capacity = string.match(
    found[1], '^(%d+) (%d+) (%d+) (%S+) %d+ %d+ %d+ 1 %S+ %S+ 0 %- %- 0 %- %-$')
  if not last or keep - at > 1800000 then
    return false
  end
  redis.call('HDEL', key, 'e:' .. id, 'i:' .. id)
  redis.call('HSET', key, '.',
    last .. ' ' .. at .. ' ' .. keep .. (capacity == '0' and '' or ' ' .. capacity))
  return true
end

local rest = 1
while rest <= #KEYS and leavesIdle(rest) do
  rest = rest + 1
end
if rest > #KEYS then
  return {}
end

-- rule.lua

local function remember(id, till)
  local first = lock.gn > 0 and get(lock.gf)
  if first and first.id ~= id and ended(first) then
    drop(first)
  end
  local c = claims[id]
  if c and c.kind == 'g' and not c.dropped then
    c.till, c.changed, lock.changed = till, true, true
  else
    c = {
      id = id, till = till, mode = NONE, lease = 0, tokens = 0, floor = 0, since = now, first = 0,
      last = 0, address = NONE,
    }
    claims[id] = c
    append('g', c)
    if lock.gn > MAX_WITHDRAWN then
      drop(get(lock.gf))
    end
  end
  keepBeyond(till)
end

for i = rest, #KEYS do
  if i == rest or not leavesIdle(i) then
    local id, lease = ARGV[2 * i], tonumber(ARGV[2 * i + 1])
    open(KEYS[i], id)
    settle()
    local c = alive(id)
    if c and c.kind ~= 'g' then
      drop(c)
    end
    if lease > 0 then
      remember(id, now + math.max(lease, WITHDRAWN_KEPT))
    end
    serve()
    save()
  end
end
return answer({})

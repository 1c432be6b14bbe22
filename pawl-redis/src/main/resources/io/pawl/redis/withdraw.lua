-- Ends the hold or the wait of each claim and grants to the next in line. Idempotent and final.
--
-- ARGV[1]  address of the calling store
-- then per key: claim id; 0, or its lease in ms if an attempt of it may still arrive: that is
--               refused for the lease, at least a minute
-- Answers  the rings alone, see rule.lua

-- Short cut: the only holder, with nobody in line. Does just what the rule would do, but leaves it
-- to the rule to shorten an expiry that is more than 30 minutes off.
if #KEYS == 1 and ARGV[3] == '0' then
  local key, id = KEYS[1], ARGV[2]
  local found = redis.call('HMGET', key, '.', 'e:' .. id)
  if found[1] and found[2] and string.byte(found[2]) == 104 then
    local last, at, keep, capacity = string.match(
      found[1], '^(%d+) (%d+) (%d+) (%S+) %d+ %d+ %d+ 1 %S+ %S+ 0 %- %- 0 %- %-$')
    if last and keep - at <= 1800000 then
      redis.call('HDEL', key, 'e:' .. id, 'i:' .. id)
      redis.call('HSET', key, '.', last .. ' ' .. at .. ' ' .. keep .. (capacity == '0' and '' or ' ' .. capacity))
      return {}
    end
  end
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

for i = 1, #KEYS do
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
return answer({})

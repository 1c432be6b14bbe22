-- Ends the hold or the wait of each claim and grants to the next in line. Idempotent and final.
--
-- ARGV[1]  address of the calling store
-- then per key: claim id; 0, or its lease in ms if an attempt of it may still arrive: that is
--               refused for the lease, at least a minute; how long its hold lasts at least, in ms
-- Answers  the rings alone, see rule.lua

-- lock/layout.lua

local header -- of the lock that a short cut looked at
local clock
local call, pack, parse = redis.call, struct.pack, struct.unpack
local rung, pushed = {}, {} -- rings of the short cuts; address and message of those for others

-- Short cut: the only holder, with nobody in line. Does just what the rule would do, but leaves it
-- to the rule to shorten an expiry that is more than 30 minutes off.
local function leavesIdle(i, last, at, keep, capacity)
  if keep - at > 3 * MEMORY then
    return false
  end
  call('HDEL', KEYS[i], 'e:' .. ARGV[3 * i - 1])
  call('HSET', KEYS[i], '.', pack(IDLE, last, at, keep, capacity))
  return true
end

-- Short cut: the only holder of a lock, exclusive and in time, and who is next is exclusive and alive,
-- has no shortest hold and is followed by no more of its client than it has tokens. Does just what the
-- rule would do.
local function handsOver(i, last, at, keep, capacity, used, soonest, look, wn, gn, wf, wl, gf, gl)
  clock = clock or redis.call('TIME')
  local key, now = KEYS[i], clock[1] * 1000 + math.floor(clock[2] / 1000)
  if used < ALL_OF_A_LOCK or now >= soonest or now < at then
    return false
  end
  local run = call('HGET', key, 'q:' .. wf)
  local prev, next, ends, count, mode, client, from = parse(RUN, run)
  if mode ~= 'x' or now >= ends then
    return false
  end
  local number = string.match(run, '%d+', from + 1)
  local id, followers = client .. '.' .. number, string.sub(run, from + #number + 1)
  local head = call('HGET', key, 'e:' .. id)
  local kind, till, lease, tokens, floor, _, _, _, _, _, _, _, address, info = parse(CLAIM, head)
  local time = TOKENS_PER_MICROSECOND * (clock[1] * 1000000 + clock[2])
  local first = math.max(last + 1, floor + 1, time)
  last = math.min(first + (tokens - 1),
    math.max(first + (MAX_TOKENS - 1), time + (TOKENS_AHEAD - 1)))
  count = count - 1
  if kind ~= 'w' or now >= till or now < till - lease or last > LARGEST or last - first < count
    and last > first then
    return false
  elseif count < last - first and wf ~= wl then
    local _, _, ends, _, mode, other = parse(RUN, call('HGET', key, 'q:' .. next))
    if now >= ends or mode == 'x' and other == client then
      return false
    end
  end
  local old = 'e:' .. ARGV[3 * i - 1]
  local claim = pack(CLAIM, 'h', till, lease, tokens, floor, now, first, last, 0, '', '', 'x',
    address) .. string.sub(head, info)
  local function header(wf)
    return pack(BUSY, last, now, keep, capacity, used, till, look, 1, wn - 1, gn, wf, wl, id,
      id, gf, gl)
  end
  if count > 0 then
    call('HDEL', key, old)
    call('HSET', key, '.', header(wf), 'e:' .. id, claim,
      'q:' .. wf, pack(RUN, prev, next, ends, count, mode, client) .. followers)
  else
    call('HDEL', key, old, 'q:' .. wf)
    call('HSET', key, '.', header(next), 'e:' .. id, claim)
  end
  followers = count > 0 and last > first and string.sub(followers, 2, -2) or '-'
  local n, m = #rung, #pushed
  if address == ARGV[1] then
    rung[n + 1], rung[n + 2], rung[n + 3], rung[n + 4] = id, first, last, followers
  elseif address ~= '' then
    pushed[m + 1] = 'pawl:bell:' .. address
    pushed[m + 2] = string.format('%s %d %d %s', id, first, last, followers)
  end
  return true
end

-- Claims for one lock in a row are left to the rule, which reads and writes it once for all.
local function isShort(i)
  header = call('HGET', KEYS[i], '.')
  if ARGV[3 * i] ~= '0' or ARGV[3 * i + 1] ~= '0' or not header or #header == IDLE_BYTES
    or KEYS[i + 1] == KEYS[i] then
    return false
  end
  local last, at, keep, capacity, used, soonest, look, hn, wn, gn, wf, wl, hf, _, gf, gl =
    parse(BUSY, header)
  if hn ~= 1 or hf ~= ARGV[3 * i - 1] then
    return false
  elseif wn > 0 then
    return handsOver(i, last, at, keep, capacity, used, soonest, look, wn, gn, wf, wl, gf, gl)
  end
  return gn == 0 and leavesIdle(i, last, at, keep, capacity)
end

local function publish()
  for i = 1, #pushed, 2 do
    redis.pcall('PUBLISH', pushed[i], pushed[i + 1])
  end
  return rung
end

local rest = 1
while rest <= #KEYS and isShort(rest) do
  rest = rest + 1
end
if rest > #KEYS then
  return publish()
end

-- lock/hash.lua
-- lock/rule.lua
-- lock/name.lua

local function remember(id, till)
  local first = lock.gn > 0 and get(lock.gf)
  if first and first.id ~= id and ended(first) then
    drop(first)
  end
  local c = claims[id]
  if c and c.lingers and not c.dropped then
    c.run, c.changed, lock.changed = till, true, true
  elseif c and c.kind == 'g' and not c.dropped then
    c.till, c.changed, lock.changed = till, true, true
  else
    c = {
      id = id, till = till, lease = 0, tokens = 0, floor = 0, since = now, first = 0, last = 0,
      run = 0, mode = NONE, address = NONE, info = '', least = 0, new = not c,
    }
    claims[id] = c
    append('g', c)
    if lock.gn > MAX_WITHDRAWN then
      drop(get(lock.gf))
    end
  end
  keepBeyond(till)
end

-- Whether a hold stays until its shortest time is over, though it is nobody's any more.
local function lingers(c, least)
  local till = owed(c, math.min(least, c.least))
  if c.kind ~= 'h' or till <= now then
    return false
  end
  c.run = c.lingers and c.run or 0
  c.lingers, c.till, c.changed, lock.changed = true, till, true, true
  lock.soonest = lock.hn == 1 and till or math.min(lock.soonest, till)
  keepBeyond(till)
  return true
end

for i = rest, #KEYS do
  local key = KEYS[i]
  if i == rest or isOpen(key) or not isShort(i) then
    local id, lease, least = ARGV[3 * i - 1], tonumber(ARGV[3 * i]), tonumber(ARGV[3 * i + 1])
    open(key, header)
    settle()
    local c = alive(id)
    if c and c.kind ~= 'g' and not lingers(c, least) then
      drop(c)
    end
    if lease > 0 and not (lock.new and isACounter(key)) then -- where no attempt is granted
      remember(id, now + math.max(lease, WITHDRAWN_KEPT))
    end
    serve()
  end
end
return answer(publish())

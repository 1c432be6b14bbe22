-- Takes the lock or a place in line, for each key and its claim; repeating it is harmless. For the
-- id of an exclusive claim that is held, mode s is a downgrade.
--
-- ARGV[1]  address of the calling store
-- then per key: claim id; mode: x, s or <wanted>/<capacity>; lease in ms; 1 to queue, 0 not;
--               tokens wanted; token floor; who asks, for people; how long its hold lasts at least,
--               in ms
-- Answers  see rule.lua

-- lock/layout.lua
-- lock/name.lua

local raises = false -- true at a node of a quorum: a floor then raises the tokens of a hold, and the
                     -- floor of a hold whose tokens an attempt has told is its last token
local above = 0 -- all tokens are above it; told to a node of a quorum, see vote.lua

local standings = {}
local header -- of the lock that a short cut looked at

local call, pack, parse = redis.call, struct.pack, struct.unpack
local micros, now -- the server's time, once somebody asked

local function readClock()
  if not now then
    local clock = redis.call('TIME')
    micros = clock[1] * 1000000 + clock[2]
    now = (micros - micros % 1000) / 1000
  end
end

-- Short cut: an exclusive claim, for a lock that nobody holds, waits for or has lately withdrawn in
-- doubt, and that is no semaphore. Does just what the rule would do; false where it is not for the
-- i-th claim.
local function takesIdle(i)
  local a = 8 * i - 6
  local last, keep, capacity, _ = 0, 0, LOCK
  if header then
    last, _, keep, capacity = parse(IDLE, header)
  elseif isACounter(KEYS[i]) then
    return false
  end
  readClock()
  local id = ARGV[a]
  local lease, tokens, floor = tonumber(ARGV[a + 2]), tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5])
  local till = now + lease
  local time = TOKENS_PER_MICROSECOND * micros
  local first = math.max(math.max(last, above, floor) + 1, time)
  last = math.min(first + (tokens - 1),
    math.max(first + (MAX_TOKENS - 1), time + (TOKENS_AHEAD - 1)))
  if capacity ~= LOCK or last > LARGEST then
    return false
  end
  local expire = keep < till + MEMORY
  keep = expire and till + 2 * MEMORY or keep
  call('HSET', KEYS[i],
    '.', pack(BUSY, last, now, keep, LOCK, ALL_OF_A_LOCK, till, 0, 1, 0, 0, 0, 0, id, id,
      '', ''),
    'e:' .. id, pack(CLAIM, 'h', till, lease, tokens, raises and last or floor, now, first, last, 0,
      '', '', 'x', ARGV[1]) .. ARGV[a + 6])
  if expire then
    call('PEXPIREAT', KEYS[i], string.format('%d', keep))
  end
  standings[2 * i - 1], standings[2 * i] = first, last
  return true
end

-- Short cut: a new exclusive claim, for a lock that is held by another such whose time is not over.
-- It can only go to the end of the line. Does just what the rule would do; false where it is not for
-- the i-th claim.
local function joins(i)
  local a = 8 * i - 6
  local key, id = KEYS[i], ARGV[a]
  local last, at, keep, capacity, used, soonest, look, hn, wn, gn, wf, wl, hf, hl, gf, gl =
    parse(BUSY, header)
  readClock()
  if used < ALL_OF_A_LOCK or now >= soonest or now < at or wn >= MAX_WAITERS or ARGV[a + 3] ~= '1' then
    return false
  end
  local found = call('HMGET', key, 'e:' .. id, 'q:' .. wl)
  if found[1] then
    return false
  end
  local prev, next, ends, count, mode, client, from = 0, 1
  if wn > 0 then
    prev, next, ends, count, mode, client, from = parse(RUN, found[2])
  else
    wf, wl = 1, 0
  end
  local mine, number = string.match(id, '^(.+)%.(%d+)$')
  local lease, tokens, floor = tonumber(ARGV[a + 2]), tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5])
  local till, run = now + lease
  if client == mine and mode == 'x' and count < MAX_RUN then
    run = pack(RUN, prev, next, math.min(ends, till), count + 1, 'x', mine)
      .. string.sub(found[2], from) .. number .. ','
  else
    run = pack(RUN, wl, next + 1, till, 1, 'x', mine) .. ',' .. number .. ','
    wl = next
  end
  local expire = keep < till + MEMORY
  keep = expire and till + 2 * MEMORY or keep
  call('HSET', key,
    '.', pack(BUSY, last, now, keep, capacity, used, soonest, look, hn, wn + 1, gn, wf, wl, hf,
      hl, gf, gl),
    'e:' .. id, pack(CLAIM, 'w', till, lease, tokens, floor, now, 0, 0, wl, '', '', 'x',
      ARGV[1]) .. ARGV[a + 6],
    'q:' .. wl, run)
  if expire then
    call('PEXPIREAT', key, string.format('%d', keep))
  end
  standings[2 * i - 1], standings[2 * i] = 0, soonest - now
  return true
end

-- Claims with a shortest hold are left to the rule; so are those for one lock in a row: it reads and
-- writes that once for all.
local function isShort(i)
  local key = KEYS[i]
  header = call('HGET', key, '.')
  if ARGV[8 * i - 5] ~= 'x' or ARGV[8 * i + 1] ~= '0' or KEYS[i + 1] == key then
    return false
  elseif header and #header > IDLE_BYTES then
    return joins(i)
  end
  return takesIdle(i)
end

local rest = 1
while rest <= #KEYS and isShort(rest) do
  rest = rest + 1
end
if rest > #KEYS then
  return standings
end

-- lock/hash.lua
-- lock/rule.lua

local function attempt(id, mode, lease, queues, tokens, floor, info, least)
  if lock.new and isACounter(lock.key) then
    return 0, IS_A_COUNTER
  end
  settle()
  local known = alive(id)
  if known then
    if known.kind == 'g' or known.lingers then
      return 0, GONE
    end
    if mode == 's' and known.kind == 'h' and known.mode == 'x' then
      known.mode = mode
      lock.used = lock.used - ALL_OF_A_LOCK + 1
      serve()
    end
    if raises and known.kind == 'h' then
      local untold = known.floor < known.first
      if floor >= known.first or untold and above >= known.first then
        known.floor, known.tokens = floor, tokens
        if not takesTokens(known) then
          return 0, TOKENS_USED_UP
        end
      end
      known.floor = known.last
    end
    return renewed(known)
  end
  local wanted, capacity = share(mode)
  if lock.capacity ~= ANY_KIND and lock.capacity ~= capacity then
    return 0, OTHER_KIND - lock.capacity
  end
  local c = {
    id = id, kind = 'w', till = now + lease, lease = lease, tokens = tokens, floor = floor,
    since = now, first = 0, last = 0, run = 0, prev = NONE, next = NONE, mode = mode,
    address = ADDRESS, info = info, least = least, new = not claims[id], grows = true,
  }
  if lock.wn == 0 and fits(mode) then
    c.till = now + math.max(lease, least)
    if not grant(c) then
      return 0, TOKENS_USED_UP
    end
  elseif not queues then
    return 0, GONE
  else
    if lock.wn >= MAX_WAITERS and now >= lock.look then
      pruneLine()
      lock.look, lock.changed = now + LOOK_FOR_DEAD_EVERY, true
    end
    if lock.wn >= MAX_WAITERS then
      return 0, QUEUE_FULL_ASK_AGAIN
    end
    queue(c)
  end
  claims[id] = c
  keepBeyond(c.till)
  if c.kind == 'h' then
    c.floor = raises and c.last or c.floor
    return c.first, c.last
  end
  return waiting()
end

for i = rest, #KEYS do
  local key = KEYS[i]
  if i == rest or isOpen(key) or not isShort(i) then
    local a = 8 * i - 6
    open(key, header)
    lock.last = math.max(lock.last, above)
    standings[2 * i - 1], standings[2 * i] = attempt(ARGV[a], ARGV[a + 1], tonumber(ARGV[a + 2]),
      ARGV[a + 3] == '1', tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5]), ARGV[a + 6],
      tonumber(ARGV[a + 7]))
  end
end
return answer(standings)

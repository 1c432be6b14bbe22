-- The grant rule on one hash per lock: what every verb shares. Java's GrantRule is the original; a
-- differential test holds the two together. Loaded into each verb in place of the line that names it.
--
-- KEYS     pawl:lock:<name>, one per claim that the verb is about
-- ARGV[1]  the address of the calling store; the verbs say what follows
--
-- A lock is one key, so that it moves between Cluster nodes, expires, is evicted and is deleted as a
-- whole, whatever braces its name has. Fields of the hash:
--
--   .        last token, time of this writing, expiry of the key; then, unless it is an idle lock,
--            the capacity: how many permits, 0 for a lock, -1 until the first grant; and unless it
--            is idle: units in use, the earliest end of a hold (or before it), when to look for the
--            dead in a full line, and number, first and last of holders, waiters, withdrawn
--   e:<id>   a claim: h(olds), w(aits) or g(one, withdrawn); until; previous and next in its list;
--            mode, lease, tokens and floor as asked; since; first and last token; address of its bell
--   i:<id>   who holds or waits, for people
--
-- Times are milliseconds of the server's clock. Each list is doubly linked: every verb costs the
-- same however long the line is. Waiters whose time is over are dropped where they are met.
-- Nothing is written before a verb has decided, so an error leaves a lock as it was.

local MEMORY = 600000 -- how long the last token outlives the lock
local MAX_TOKENS = 64 -- in one grant
local TOKENS_PER_MICROSECOND = 2
local TOKEN_END = 9007199254740992 -- 2^53
local MAX_WAITERS, MAX_WITHDRAWN, WITHDRAWN_KEPT = 10000, 1000, 60000
local LINE_FULL_ASK_AGAIN, LOOK_FOR_DEAD_EVERY = 100, 5000
local LOCK, ANY_KIND = 0, -1 -- in place of a capacity
local ALL_OF_A_LOCK = 2147483648 -- more than there can be shared holders
local NONE = '-'

local ADDRESS = ARGV[1]
local clock = redis.call('TIME')
local micros = clock[1] * 1000000 + clock[2]
local now = (micros - micros % 1000) / 1000

local lock -- the header of the lock at hand
local claims -- those of its entries that were read or made, by id
local rings = {} -- id, first and last token and followers of waiters whose bell is the caller's
local pushes = {} -- the same as text, by the address of others

local match, format, call = string.match, string.format, redis.call

local function parse(id, raw)
  local kind, till, prev, next, mode, lease, tokens, floor, since, first, last, address =
    match(raw, '^(%a) (%d+) (%S+) (%S+) (%S+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S+)$')
  local claim = {
    id = id, kind = kind, till = tonumber(till), prev = prev, next = next, mode = mode,
    lease = tonumber(lease), tokens = tonumber(tokens), floor = tonumber(floor),
    since = tonumber(since), first = tonumber(first), last = tonumber(last), address = address,
  }
  claims[id] = claim
  return claim
end

local function get(id)
  return claims[id] or parse(id, call('HGET', lock.key, 'e:' .. id))
end

-- Reads the header, and the entry of claim id where there is one.
local function open(key, id)
  local found = call('HMGET', key, '.', 'e:' .. id)
  claims = {}
  lock = {
    key = key, last = 0, at = now, keep = 0, capacity = ANY_KIND, used = 0, soonest = 0, look = 0,
    hn = 0, hf = NONE, hl = NONE, wn = 0, wf = NONE, wl = NONE, gn = 0, gf = NONE, gl = NONE,
  }
  if not found[1] then
    lock.new = true
    return nil
  end
  local last, at, keep, rest = match(found[1], '^(%d+) (%d+) (%d+)(.*)$')
  lock.last, lock.at, lock.keep = tonumber(last), tonumber(at), tonumber(keep)
  local capacity
  capacity, rest = match(rest, '^ ?(%S*)(.*)$')
  lock.capacity = tonumber(capacity) or LOCK
  if rest ~= '' then
    local used, soonest, look, hn, wn, gn
    used, soonest, look, hn, lock.hf, lock.hl, wn, lock.wf, lock.wl, gn, lock.gf, lock.gl =
      match(rest, '^ (%d+) (%d+) (%d+) (%d+) (%S+) (%S+) (%d+) (%S+) (%S+) (%d+) (%S+) (%S+)$')
    lock.used, lock.soonest = tonumber(used), tonumber(soonest)
    lock.look, lock.hn, lock.wn, lock.gn = tonumber(look), tonumber(hn), tonumber(wn), tonumber(gn)
  end
  if found[2] then
    parse(id, found[2])
  end
end

-- The key expires MEMORY to 2 * MEMORY after the last end of a claim.
local function keepBeyond(till)
  if lock.keep < till + MEMORY then
    lock.keep = till + 2 * MEMORY
    lock.expire = true
  end
end

local function header()
  local l = lock
  if l.hn + l.wn + l.gn == 0 then
    if l.keep > now + 3 * MEMORY then
      l.keep = now + 2 * MEMORY
      l.expire = true
    end
    local idle = format('%.0f %.0f %.0f', l.last, now, l.keep)
    return l.capacity == LOCK and idle or idle .. ' ' .. l.capacity
  end
  return format('%.0f %.0f %.0f %d %.0f %.0f %.0f %d %s %s %d %s %s %d %s %s', l.last, now, l.keep,
    l.capacity, l.used, l.soonest, l.look, l.hn, l.hf, l.hl, l.wn, l.wf, l.wl, l.gn, l.gf, l.gl)
end

local function inChunks(command, arguments)
  for from = 1, #arguments, 1000 do
    call(command, lock.key, unpack(arguments, from, math.min(from + 999, #arguments)))
  end
end

-- Writes what has changed. Short of memory the server refuses what could grow the data, but nothing
-- after a write that could not; so renewals and releases succeed, and only new claims fail.
local function save()
  if not lock.changed then
    return
  end
  local set, del, grows = {'.', header()}, {}, lock.new
  for id, c in pairs(claims) do
    if c.dropped then
      if not c.new then
        del[#del + 1] = 'e:' .. id
        del[#del + 1] = 'i:' .. id
      end
    elseif c.changed then
      set[#set + 1] = 'e:' .. id
      set[#set + 1] = format('%s %.0f %s %s %s %.0f %d %.0f %.0f %.0f %.0f %s', c.kind, c.till,
        c.prev, c.next, c.mode, c.lease, c.tokens, c.floor, c.since, c.first, c.last, c.address)
      if c.info then
        set[#set + 1] = 'i:' .. id
        set[#set + 1] = c.info
        grows = true
      elseif c.kind == 'g' then
        del[#del + 1] = 'i:' .. id
      end
    end
  end
  if #del > 0 then
    inChunks('HDEL', del)
  elseif not grows then
    lock.expire = false
    call('PEXPIREAT', lock.key, format('%.0f', lock.keep))
  end
  inChunks('HSET', set)
  if lock.expire then
    call('PEXPIREAT', lock.key, format('%.0f', lock.keep))
  end
end

local function append(kind, c)
  local tail = lock[kind .. 'l']
  c.kind, c.prev, c.next, c.changed = kind, tail, NONE, true
  if tail == NONE then
    lock[kind .. 'f'] = c.id
  else
    local before = get(tail)
    before.next, before.changed = c.id, true
  end
  lock[kind .. 'l'] = c.id
  lock[kind .. 'n'] = lock[kind .. 'n'] + 1
  lock.changed = true
end

local function unlink(c)
  local kind = c.kind
  if c.prev == NONE then
    lock[kind .. 'f'] = c.next
  else
    local before = get(c.prev)
    before.next, before.changed = c.next, true
  end
  if c.next == NONE then
    lock[kind .. 'l'] = c.prev
  else
    local after = get(c.next)
    after.prev, after.changed = c.prev, true
  end
  lock[kind .. 'n'] = lock[kind .. 'n'] - 1
  lock.changed = true
end

-- What a mode takes, and of which capacity: a lock is a semaphore of which an exclusive claim wants
-- all, and a shared one a little.
local function share(mode)
  if mode == 'x' then
    return ALL_OF_A_LOCK, LOCK
  elseif mode == 's' then
    return 1, LOCK
  end
  local wanted, capacity = match(mode, '^(%d+)/(%d+)$')
  return tonumber(wanted), tonumber(capacity)
end

local function drop(c)
  if c.kind == 'h' then
    lock.used = lock.used - share(c.mode)
  end
  unlink(c)
  c.dropped = true
  if c.kind == 'h' and lock.hn == 1 then
    lock.soonest = get(lock.hf).till
  end
end

-- By the capacity of the state: that of the claim may be older than a change.
local function fits(c)
  return lock.used + share(c.mode) <= (lock.capacity > 0 and lock.capacity or ALL_OF_A_LOCK)
end

-- Tokens follow the server's clock at two a microsecond, and always the last one; see docs/REDIS.md.
local function grant(c)
  local first = math.max(lock.last + 1, c.floor + 1, TOKENS_PER_MICROSECOND * micros)
  local last = first + (math.min(c.tokens, MAX_TOKENS) - 1) -- exact up to 2^53
  if last >= TOKEN_END then
    return false
  end
  local wanted, capacity = share(c.mode)
  lock.used = lock.used + wanted
  lock.soonest = lock.hn == 0 and c.till or math.min(lock.soonest, c.till)
  if lock.capacity == ANY_KIND then
    lock.capacity = capacity
  end
  lock.last = last
  c.first, c.last, c.since = first, last, now
  append('h', c)
  return true
end

-- Whether the time of a claim is over. A clock that went back must not stretch it.
local function ended(c)
  if c.till > now + c.lease and c.kind ~= 'g' then
    c.till, c.changed, lock.changed = now + c.lease, true, true
  end
  return c.till <= now
end

-- The numbers of the claims of c's client that stand directly behind it, exclusive like it: fewer
-- than it has tokens.
local function followers(c)
  if c.mode ~= 'x' then
    return NONE
  end
  local client, numbers, id = match(c.id, '^(.+)%.'), {}, lock.wf
  while id ~= NONE and #numbers < c.last - c.first do
    local behind = get(id)
    if ended(behind) then
      drop(behind)
    else
      local of, number = match(id, '^(.+)%.(%d+)$')
      if of ~= client or behind.mode ~= 'x' then
        break
      end
      numbers[#numbers + 1] = number
    end
    id = behind.next
  end
  return #numbers > 0 and table.concat(numbers, ',') or NONE
end

local function ring(c)
  if c.address == ADDRESS then
    rings[#rings + 1] = c.id
    rings[#rings + 1] = c.first
    rings[#rings + 1] = c.last
    rings[#rings + 1] = followers(c)
  elseif c.address ~= NONE then
    local text = format('%s %.0f %.0f %s', c.id, c.first, c.last, followers(c))
    pushes[c.address] = pushes[c.address] and pushes[c.address] .. ' ' .. text or text
  end
end

-- Grants from the head of the line what can be granted.
local function serve()
  while lock.wn > 0 do
    local head = get(lock.wf)
    if ended(head) then
      drop(head)
    elseif fits(head) then
      unlink(head)
      if not grant(head) then
        head.dropped = true
        return
      end
      ring(head)
    else
      return
    end
  end
end

local function dropEnded(first)
  local soonest, id = nil, first
  while id ~= NONE do
    local c = get(id)
    id = c.next
    if ended(c) then
      drop(c)
    elseif not soonest or c.till < soonest then
      soonest = c.till
    end
  end
  lock.changed = true
  return soonest or 0
end

-- Drops holds that are over and serves the line; a clock that went back has every hold looked at.
local function settle()
  if lock.hn > 0 and (now >= lock.soonest or now < lock.at) then
    lock.soonest = dropEnded(lock.hf)
  end
  serve()
end

-- The claim as it stands: kept alive if it lives, forgotten if its time is over.
local function alive(id)
  local c = claims[id]
  if not c or c.dropped then
    return nil
  elseif ended(c) then
    drop(c)
    return nil
  end
  return c
end

-- The answer for a claim in line: when the first hold may end.
local function waiting()
  return 0, math.max(lock.soonest - now, 1)
end

local function renewed(c)
  c.till, c.changed, lock.changed = now + c.lease, true, true
  keepBeyond(c.till)
  if c.kind == 'h' then
    if lock.hn == 1 then
      lock.soonest = c.till
    end
    return c.first, c.last
  end
  return waiting()
end

-- Rings the bells of others: one message to each store that has grants.
local function push()
  for address, text in pairs(pushes) do
    call('PUBLISH', 'pawl:bell:' .. address, text)
  end
end

local GONE = -1
local TOKENS_USED_UP = -2
local OTHER_KIND = -3
local IS_A_COUNTER = -4294967296 -- beyond OTHER_KIND less any capacity

-- Two numbers per claim: first and last token; or 0 and the milliseconds to wait, GONE,
-- TOKENS_USED_UP, OTHER_KIND less the capacity, or IS_A_COUNTER. After them the rings.
local function answer(standings)
  push()
  for i = 1, #rings do
    standings[#standings + 1] = rings[i]
  end
  return standings
end

-- The grant rule on one hash per lock: what every verb shares. Java's GrantRule is the original; a
-- differential test holds the two together. Loaded into each verb, after hash.lua, in place of the
-- line that names it.
--
-- KEYS     pawl:lock:<name>, one per claim that the verb is about
-- ARGV[1]  the address of the calling store; the verbs say what follows
--
-- A lock is one key, so that it moves between Cluster nodes, expires, is evicted and is deleted as a
-- whole, whatever braces its name has.
--
-- Times are milliseconds of the server's clock. Holders and withdrawn claims are linked lists. The
-- line is a linked list of runs, so that joining it, leaving it, granting to its head and naming who
-- follows touch one run and seldom a neighbour: every verb costs the same however long the line is.
-- Waiters whose time is over are dropped where they are met.

local LOOK_FOR_DEAD_EVERY = 5000

local ADDRESS = ARGV[1]
local rings = {} -- id, first and last token and followers of waiters whose bell is the caller's
local pushes = {} -- the same as text, by the address of others

-- The key expires MEMORY to 2 * MEMORY after the last end of a claim.
local function keepBeyond(till)
  if lock.keep < till + MEMORY then
    lock.keep = till + 2 * MEMORY
    lock.expire = true
  end
end

-- Puts a claim last among holders or withdrawn.
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

-- Puts a claim last in line. The run behind the last one has the number that its next tells.
local function queue(c)
  local client, number = match(c.id, '^(.+)%.(%d+)$')
  local r = lock.wn > 0 and runOf(lock.wl)
  if not r or r.client ~= client or r.mode ~= c.mode or r.count >= MAX_RUN then
    local n = r and r.next or 1
    r = {
      n = n, prev = r and r.n or 0, next = n + 1, soonest = c.till, count = 0, mode = c.mode,
      client = client, numbers = ',',
    }
    runs[n] = r
    lock.wl = n
    if lock.wn == 0 then
      lock.wf = n
    end
  end
  r.numbers, r.count, r.changed = r.numbers .. number .. ',', r.count + 1, true
  r.soonest = math.min(r.soonest, c.till)
  c.run, c.changed = r.n, true
  lock.wn, lock.changed = lock.wn + 1, true
end

-- Takes a claim out of the line or list that it stands in.
local function leave(c)
  local kind = c.kind
  lock[kind .. 'n'] = lock[kind .. 'n'] - 1
  lock.changed = true
  if kind == 'w' then
    local r = runOf(c.run)
    local number = match(c.id, '%.(%d+)$')
    local at = string.find(r.numbers, ',' .. number .. ',', 1, true)
    r.numbers = sub(r.numbers, 1, at) .. sub(r.numbers, at + #number + 2)
    r.count, r.changed = r.count - 1, true
    if r.count > 0 then
      return
    end
    local first, last = r.n == lock.wf, r.n == lock.wl
    if first then
      lock.wf = r.next
    end
    if last then
      lock.wl = r.prev
    end
    if not first and not last then
      local before, after = runOf(r.prev), runOf(r.next)
      before.next, before.changed = after.n, true
      after.prev, after.changed = before.n, true
    end
    return
  end
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

-- A hold that was withdrawn in doubt, and lingered, is remembered as withdrawn.
local function drop(c)
  leave(c)
  c.dropped = true
  if c.kind == 'h' then
    lock.used = lock.used - share(c.mode)
    if lock.hn == 1 then
      lock.soonest = get(lock.hf).till
    end
    if c.lingers and c.run > now then
      c.till, c.least, c.lingers, c.dropped = c.run, 0, false, false
      append('g', c)
      if lock.gn > MAX_WITHDRAWN then
        drop(get(lock.gf))
      end
    end
  end
end

-- By the capacity of the state: that of the claim may be older than a change.
local function fits(mode)
  return lock.used + share(mode) <= (lock.capacity > 0 and lock.capacity or ALL_OF_A_LOCK)
end

-- Tokens follow the server's clock at two a microsecond, and always the last one. More than some few
-- are granted only as far as they are soon behind that clock; see docs/REDIS.md.
local function takesTokens(c)
  local time = TOKENS_PER_MICROSECOND * micros
  local first = math.max(lock.last + 1, c.floor + 1, time)
  local most = math.max(first + (MAX_TOKENS - 1), time + (TOKENS_AHEAD - 1))
  local last = math.min(first + (c.tokens - 1), most) -- exact up to 2^53
  if last > LARGEST then
    return false
  end
  lock.last, c.first, c.last = last, first, last
  return true
end

local function grant(c)
  if not takesTokens(c) then
    return false
  end
  local wanted, capacity = share(c.mode)
  lock.used = lock.used + wanted
  lock.soonest = lock.hn == 0 and c.till or math.min(lock.soonest, c.till)
  if lock.capacity == ANY_KIND then
    lock.capacity = capacity
  end
  c.since = now
  append('h', c)
  return true
end

-- Whether the time of a claim is over. A clock that went back must not stretch it.
local function ended(c)
  local longest = c.kind == 'h' and math.max(c.lease, c.least) or c.lease
  if c.till > now + longest and c.kind ~= 'g' then
    c.till, c.changed, lock.changed = now + longest, true, true
  end
  return c.till <= now
end

-- Drops those of a run whose time is over, and finds out when the first of the rest ends.
local function prune(r)
  local soonest
  for number in string.gmatch(r.numbers, '%d+') do
    local c = get(r.client .. '.' .. number)
    if ended(c) then
      drop(c)
    elseif not soonest or c.till < soonest then
      soonest = c.till
    end
  end
  r.soonest, r.changed, lock.changed = soonest or 0, true, true
end

-- Drops all of the line whose time is over.
local function pruneLine()
  local last, n = lock.wn == 0, lock.wf
  while not last do
    local r = runOf(n)
    last, n = n == lock.wl, r.next
    prune(r)
  end
end

-- The numbers of the claims of c's client that stand directly behind it, exclusive like it: fewer
-- than it has tokens.
local function followers(c)
  local most, found = c.mode == 'x' and math.min(c.last - c.first, MAX_TOKENS - 1) or 0, {}
  local client = most > 0 and lock.wn > 0 and match(c.id, '^(.+)%.')
  local last, n = not client, lock.wf
  while most > 0 and not last do
    local r = runOf(n)
    last, n = n == lock.wl, r.next
    if r.soonest <= now then
      prune(r)
    end
    if r.count > 0 then
      if r.client ~= client or r.mode ~= 'x' then
        break
      elseif r.count <= most then
        found[#found + 1] = sub(r.numbers, 2, -2)
        most = most - r.count
      else
        for number in string.gmatch(r.numbers, '%d+') do
          if most > 0 then
            found[#found + 1] = number
            most = most - 1
          end
        end
      end
    end
  end
  return #found > 0 and table.concat(found, ',') or '-'
end

local function ring(c)
  if c.address == ADDRESS then
    local n = #rings
    rings[n + 1], rings[n + 2], rings[n + 3], rings[n + 4] = c.id, c.first, c.last, followers(c)
  elseif c.address ~= NONE then
    local text = format('%s %d %d %s', c.id, c.first, c.last, followers(c))
    pushes[c.address] = pushes[c.address] and pushes[c.address] .. ' ' .. text or text
  end
end

-- Grants from the head of the line what can be granted.
local function serve()
  while lock.wn > 0 and lock.used < (lock.capacity > 0 and lock.capacity or ALL_OF_A_LOCK) do
    local r = runOf(lock.wf)
    if r.soonest <= now then
      prune(r)
    end
    local head = r.count > 0 and get(r.client .. '.' .. match(r.numbers, '%d+'))
    if not head then
      -- the run is gone: on to the next
    elseif ended(head) then
      drop(head)
    elseif fits(head.mode) then
      leave(head)
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

-- All holders or waiters, in order.
local function members(kind)
  local ids = {}
  if kind == 'h' then
    local id = lock.hf
    while id ~= NONE do
      ids[#ids + 1] = id
      id = get(id).next
    end
  elseif lock.wn > 0 then
    local n, last = lock.wf
    repeat
      local r = runOf(n)
      for number in string.gmatch(r.numbers, '%d+') do
        ids[#ids + 1] = r.client .. '.' .. number
      end
      last, n = n == lock.wl, r.next
    until last
  end
  return ids
end

-- Drops holders whose time is over, and answers when the first of the rest ends.
local function dropEnded()
  local soonest
  for _, id in ipairs(members('h')) do
    local c = get(id)
    if ended(c) then
      drop(c)
    elseif not soonest or c.till < soonest then
      soonest = c.till
    end
  end
  lock.changed = true
  return soonest or 0
end

-- Drops holds that are over and serves the line. A clock that went back has every hold and all of the
-- line looked at: waiters that died end together then, where each would have a lease of its own if it
-- was cut when its turn comes. Of the withdrawn, the first is dropped once its time is over: whoever
-- remembers one takes no short cut.
local function settle()
  local first = lock.gn > 0 and get(lock.gf)
  if first and ended(first) then
    drop(first)
  end
  local back = now < lock.at
  if lock.hn > 0 and (now >= lock.soonest or back) then
    lock.soonest = dropEnded()
  end
  if back then
    pruneLine()
    lock.look, lock.changed = 0, true
  end
  serve()
end

-- The claim as it stands: kept alive if it lives, forgotten if its time is over.
local function alive(id)
  local c = get(id)
  if c and not c.dropped and ended(c) then
    drop(c)
  end
  return c and not c.dropped and c or nil
end

-- The answer for a claim in line: when the first hold may end.
local function waiting()
  return 0, math.max(lock.soonest - now, 1)
end

-- Until when a hold is owed that lasts for so long at least, whatever the clock did since.
local function owed(c, least)
  return math.min(c.since, now) + least
end

local function renewed(c)
  local enough = c.lease > LONG_LEASE and math.floor(c.lease / 2) or c.lease
  if c.kind == 'w' and c.till - now >= enough then
    return waiting() -- nothing changes, and nothing is written
  end
  c.till, c.changed, lock.changed = now + c.lease, true, true
  if c.kind == 'h' and c.least > 0 then
    c.till = math.max(c.till, owed(c, c.least))
  end
  keepBeyond(c.till)
  if c.kind == 'h' then
    if lock.hn == 1 then
      lock.soonest = c.till
    end
    return c.first, c.last
  end
  return waiting()
end

-- Writes the lock at hand; rings the bells of others, with one message to each store that has grants.
-- Two numbers per claim: first and last token; or 0 and the milliseconds to wait, GONE,
-- TOKENS_USED_UP, OTHER_KIND less the capacity, or IS_A_COUNTER. After them the rings.
local function answer(standings)
  save()
  for address, text in pairs(pushes) do
    redis.pcall('PUBLISH', 'pawl:bell:' .. address, text)
  end
  for i = 1, #rings do
    standings[#standings + 1] = rings[i]
  end
  return standings
end

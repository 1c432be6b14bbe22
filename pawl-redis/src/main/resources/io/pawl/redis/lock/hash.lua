-- A lock's hash read and written; layout.lua has its fields. Loaded into a verb before rule.lua.
--
-- A lock is read when the first claim for it comes and written when the next lock's turn comes or the
-- verb answers, so that claims for one lock in a row cost it one reading and one writing. Nothing is
-- written before all of them are decided, so an error leaves a lock as it was.

local ANY_KIND = -1 -- in place of a capacity
local NONE = '' -- in place of an id

local clock = redis.call('TIME')
local micros = clock[1] * 1000000 + clock[2]
local now = (micros - micros % 1000) / 1000

local lock -- the header of the lock at hand
local claims, runs -- those of its fields that were read or made, by id and by number

local call, format, match, sub = redis.call, string.format, string.match, string.sub
local pack, parse = struct.pack, struct.unpack

-- A claim of the lock at hand, or false.
local function get(id)
  local c = claims[id]
  if c == nil then
    local raw = call('HGET', lock.key, 'e:' .. id)
    if raw then
      local kind, till, lease, tokens, floor, since, first, last, run, prev, next, mode, address, info =
        parse(CLAIM, raw)
      local least, lingers = 0, kind == 'L'
      if kind < 'a' then
        least, info = parse(LEAST, raw, info)
        kind = kind == 'W' and 'w' or 'h'
      end
      c = {
        id = id, kind = kind, till = till, lease = lease, tokens = tokens, floor = floor,
        since = since, first = first, last = last, run = run, prev = prev, next = next, mode = mode,
        address = address, info = sub(raw, info), least = least, lingers = lingers,
      }
    end
    c = c or false
    claims[id] = c
  end
  return c
end

local function runOf(n)
  local r = runs[n]
  if not r then
    local raw = call('HGET', lock.key, 'q:' .. n)
    local prev, next, soonest, count, mode, client, numbers = parse(RUN, raw)
    r = {
      n = n, prev = prev, next = next, soonest = soonest, count = count, mode = mode,
      client = client, numbers = sub(raw, numbers),
    }
    runs[n] = r
  end
  return r
end

-- A claim as it is stored.
local function packed(c)
  local letter = c.kind
  if c.least > 0 then
    letter = c.lingers and 'L' or string.upper(letter)
  end
  return pack(CLAIM, letter, c.till, c.lease, c.tokens, c.floor, c.since, c.first, c.last, c.run,
    c.prev, c.next, c.mode, c.address) .. (c.least > 0 and pack(LEAST, c.least) or '') .. c.info
end

local function inChunks(command, arguments)
  for from = 1, #arguments, MAX_ARGUMENTS do
    local to = math.min(from + MAX_ARGUMENTS - 1, #arguments)
    call(command, lock.key, unpack(arguments, from, to))
  end
end

-- Writes what has changed. Short of memory the server refuses what could grow the data, but nothing
-- after a write that could not; so renewals and releases succeed, and only new claims fail.
local function save()
  local l = lock
  if not l or not l.changed then
    return
  end
  local idle = l.hn + l.wn + l.gn == 0
  if idle and l.keep > now + 3 * MEMORY then
    l.keep = now + 2 * MEMORY
    l.expire = true
  end
  local set, del, grows = {
    '.', idle and pack(IDLE, l.last, now, l.keep, l.capacity)
      or pack(BUSY, l.last, now, l.keep, l.capacity, l.used, l.soonest, l.look, l.hn, l.wn, l.gn,
        l.wf, l.wl, l.hf, l.hl, l.gf, l.gl),
  }, {}, l.new
  for id, c in pairs(claims) do
    if c and c.dropped then
      if not c.new then
        del[#del + 1] = 'e:' .. id
      end
    elseif c and c.changed then
      set[#set + 1] = 'e:' .. id
      set[#set + 1] = packed(c)
      grows = grows or c.grows
    end
  end
  for n, r in pairs(runs) do
    if r.count == 0 then
      del[#del + 1] = 'q:' .. n
    elseif r.changed then
      set[#set + 1] = 'q:' .. n
      set[#set + 1] = pack(RUN, r.prev, r.next, r.soonest, r.count, r.mode, r.client) .. r.numbers
    end
  end
  local expiry = l.expire and format('%d', l.keep)
  if #del > 0 then
    inChunks('HDEL', del)
  elseif not grows then
    call('PEXPIREAT', l.key, expiry or format('%d', l.keep))
    expiry = nil
  end
  inChunks('HSET', set)
  if expiry then
    call('PEXPIREAT', l.key, expiry)
  end
end

local function isOpen(key)
  return lock and lock.key == key
end

-- Makes a lock the one at hand; header is its field . if that was just read.
local function open(key, header)
  if isOpen(key) then
    return
  end
  save()
  header = header or call('HGET', key, '.')
  claims, runs = {}, {}
  local last, at, keep, capacity, used, soonest, look = 0, now, 0, ANY_KIND, 0, 0, 0
  local hn, wn, gn, wf, wl, hf, hl, gf, gl = 0, 0, 0, 0, 0, NONE, NONE, NONE, NONE
  if header and #header == IDLE_BYTES then
    last, at, keep, capacity = parse(IDLE, header)
  elseif header then
    last, at, keep, capacity, used, soonest, look, hn, wn, gn, wf, wl, hf, hl, gf, gl =
      parse(BUSY, header)
  end
  lock = {
    key = key, new = not header, last = last, at = at, keep = keep, capacity = capacity,
    used = used, soonest = soonest, look = look, hn = hn, wn = wn, gn = gn, wf = wf, wl = wl,
    hf = hf, hl = hl, gf = gf, gl = gl,
  }
end

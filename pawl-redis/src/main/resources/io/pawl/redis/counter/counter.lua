-- The counter rule on one hash per counter: what its verbs share. Java's CounterRule is the original;
-- a differential test holds the two together. Loaded into each verb in place of the line that names it.
--
-- KEYS     pawl:counter:<name>; a verb that takes several operations may name one several times
-- ARGV[1]  how long ids are kept, in ms; the verbs say what follows
--
-- A counter is one key, so that its value and what it remembers of ids move between Cluster nodes, are
-- saved, evicted and deleted as a whole, whatever braces its name has. It never expires. Fields:
--
--   .        value, floor, ceiling, reserved; the sum of forgotten changes: hundreds of millions, and the rest;
--            from when on ids are remembered; numbers of the first line of the ledger and of the next
--            one; when the first line was entered (or before it); number of open reservations, when the
--            first of them is due
--   e:<id>   an operation: a(pplied), r(efused), o(pen reservation), c(onfirmed), x cancelled, e(xpired)
--            or n(ever); change; value just after; when; when the id was first used, or closed by a
--            question; deadline; what it was, in the words of Java's Operation
--   q:<n>    a line of the ledger: when it was entered, id
--   h:<n>    open reservations, a heap of up to four children each, the earliest at 1: deadline, id
--   p:<id>   the place of an open reservation in it
--
-- Times are milliseconds of the server's clock, but for the first use of ids. Numbers are whole and below
-- 2^53, where Lua is exact; a sum of two that is not below it passes every bound. A change can be beyond:
-- it is kept as text. All is read before, and written after all of a script's operations were decided, so
-- an error leaves counters as they were.

local SETTLED_AT_ONCE = 250 -- reservations that are due, in one script
local FORGOTTEN_AT_ONCE = 20 -- ids, for each that is entered
local FLOOR, CEILING = 0, LARGEST -- of a counter that is new

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local kept = now - ARGV[1] -- ids from before then may be forgotten
local settleable = SETTLED_AT_ONCE

local match, format, call = string.match, string.format, redis.call

local opened = {} -- counters, and by their keys too

-- Reads the header, and the entries of ids where there are any.
local function open(key, ids)
  local fields = {'.'}
  for i = 1, #ids do
    fields[i + 1] = 'e:' .. ids[i]
  end
  local found = call('HMGET', key, unpack(fields))
  local c = {key = key, known = {}, dirty = {}, entries = {}}
  for i = 2, #fields do
    c.known[fields[i]] = found[i]
  end
  if found[1] then
    local value, floor, ceiling, reserved, units, rest, from, first, next, entered, open, due = match(
      found[1],
      '^(%S+) (%S+) (%S+) (%d+) (%S+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
    c.value, c.floor, c.ceiling = tonumber(value), tonumber(floor), tonumber(ceiling)
    c.reserved, c.units, c.rest = tonumber(reserved), tonumber(units), tonumber(rest)
    c.from, c.first, c.next = tonumber(from), tonumber(first), tonumber(next)
    c.entered, c.open, c.due = tonumber(entered), tonumber(open), tonumber(due)
  else
    c.value, c.floor, c.ceiling, c.reserved = 0, FLOOR, CEILING, 0
    c.units, c.rest, c.from, c.first, c.next, c.entered, c.open, c.due = 0, 0, 0, 1, 1, 0, 0, 0
    c.new = true
  end
  opened[#opened + 1] = c
  opened[key] = c
  return c
end

local function header(c)
  return format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f', c.value, c.floor,
    c.ceiling, c.reserved, c.units, c.rest, c.from, c.first, c.next, c.entered, c.open, c.due)
end

-- Makes fields known, in one call.
local function read(c, fields)
  local unknown = {}
  for i = 1, #fields do
    if c.known[fields[i]] == nil then
      unknown[#unknown + 1] = fields[i]
    end
  end
  if #unknown > 0 then
    local found = call('HMGET', c.key, unpack(unknown))
    for i = 1, #unknown do
      c.known[unknown[i]] = found[i]
    end
  end
end

local function get(c, field)
  local value = c.known[field]
  if value == nil then
    value = call('HGET', c.key, field)
    c.known[field] = value
  end
  return value
end

-- False deletes.
local function put(c, field, value)
  c.known[field], c.dirty[field], c.changed = value, true, true
end

local function inChunks(c, command, arguments)
  for from = 1, #arguments, MAX_ARGUMENTS do
    local to = math.min(from + MAX_ARGUMENTS - 1, #arguments)
    call(command, c.key, unpack(arguments, from, to))
  end
end

-- Writes what has changed. Short of memory the server refuses the first of these, and nothing after it.
local function save()
  for i = 1, #opened do
    local c = opened[i]
    if c.changed then
      local set, del = {'.', header(c)}, {}
      for field in pairs(c.dirty) do
        local value = c.known[field]
        if value then
          set[#set + 1] = field
          set[#set + 1] = value
        else
          del[#del + 1] = field
        end
      end
      inChunks(c, 'HSET', set)
      inChunks(c, 'HDEL', del)
    end
  end
end

-- Whether a lock has the name. In a Cluster it can be on another node, and then is not seen.
local function isALock(c)
  local lock = redis.pcall('HGET', 'pawl:lock:' .. string.sub(c.key, #'pawl:counter:' + 1), '.')
  return type(lock) == 'string'
end

local function parse(id, text)
  local status, change, value, at, issued, till, what =
    match(text, '^(%a) (%S+) (%S+) (%d+) (%d+) (%d+) (.+)$')
  return {
    id = id, status = status, change = change, value = tonumber(value), at = tonumber(at),
    issued = tonumber(issued), till = tonumber(till), what = what, text = text,
  }
end

local function find(c, id)
  local entry = c.entries[id]
  if entry == nil then
    local text = get(c, 'e:' .. id)
    entry = text and parse(id, text)
    c.entries[id] = entry
  end
  return entry
end

local function written(entry)
  entry.text = format('%s %s %.0f %.0f %.0f %.0f %s', entry.status, entry.change, entry.value,
    entry.at, entry.issued, entry.till, entry.what)
  return entry
end

local function write(c, entry)
  put(c, 'e:' .. entry.id, written(entry).text)
  c.entries[entry.id] = entry
end

local function appendLine(c, id)
  put(c, 'q:' .. c.next, format('%.0f %s', now, id))
  c.next = c.next + 1
end

local function drop(c, entry)
  put(c, 'e:' .. entry.id, false)
  c.entries[entry.id] = nil
  local sign, digits = match(entry.change, '^(%-?)(%d+)$')
  sign = sign == '-' and -1 or 1
  c.units = c.units + sign * (tonumber(string.sub(digits, 1, -9)) or 0)
  c.rest = c.rest + sign * tonumber(string.sub(digits, -8))
  if c.rest < 0 then
    c.units, c.rest = c.units - 1, c.rest + UNIT
  elseif c.rest >= UNIT then
    c.units, c.rest = c.units + 1, c.rest - UNIT
  end
end

-- The lines from first to last, with their entries, in two calls: calls visit with each that is there.
local function eachLine(c, first, last, step, visit)
  local fields, ids = {}, {}
  for n = first, last, step do
    fields[#fields + 1] = 'q:' .. n
  end
  read(c, fields)
  for i = 1, #fields do
    local line = c.known[fields[i]]
    ids[i] = line and 'e:' .. match(line, ' (.+)$') or fields[i]
  end
  read(c, ids)
  for n = first, last, step do
    local line = c.known['q:' .. n]
    if line then
      local entered, id = match(line, '^(%d+) (.+)$')
      if not visit(n, tonumber(entered), find(c, id)) then
        return
      end
    end
  end
end

-- Forgets some of the ids that were entered and first used before the kept time. Open reservations, and
-- ids of clients whose clock is ahead, are put to the end.
local function forget(c)
  if c.entered >= kept or c.first == c.next then
    return
  end
  local last = math.min(c.first + FORGOTTEN_AT_ONCE, c.next) - 1
  local first = last + 1
  eachLine(c, c.first, last, 1, function(n, entered, entry)
    if entered >= kept then
      first, c.entered = n, entered
      return false
    end
    put(c, 'q:' .. n, false)
    if entry.status == 'o' or entry.issued >= kept then
      appendLine(c, entry.id)
    else
      drop(c, entry)
      c.from = math.max(c.from, entry.issued + 1)
    end
    return true
  end)
  c.first = first
end

local function enter(c, entry)
  if c.first == c.next then
    c.entered = now
  end
  write(c, entry)
  appendLine(c, entry.id)
  forget(c)
end

local function parent(place)
  return math.floor((place + 2) / 4)
end

local function reservation(c, place)
  local till, id = match(get(c, 'h:' .. place), '^(%d+) (.+)$')
  return tonumber(till), id
end

local function occupy(c, place, till, id)
  put(c, 'h:' .. place, format('%.0f %s', till, id))
  put(c, 'p:' .. id, tostring(place))
end

local function rise(c, place, till, id)
  while place > 1 do
    local above, other = reservation(c, parent(place))
    if above <= till then
      break
    end
    occupy(c, place, above, other)
    place = parent(place)
  end
  occupy(c, place, till, id)
end

local function sink(c, place, till, id)
  while 4 * place - 2 <= c.open do
    local first, last = 4 * place - 2, math.min(4 * place + 1, c.open)
    local fields = {}
    for child = first, last do
      fields[#fields + 1] = 'h:' .. child
    end
    read(c, fields)
    local least, leastTill, leastId = 0, till, id
    for child = first, last do
      local childTill, childId = reservation(c, child)
      if childTill < leastTill then
        least, leastTill, leastId = child, childTill, childId
      end
    end
    if least == 0 then
      break
    end
    occupy(c, place, leastTill, leastId)
    place = least
  end
  occupy(c, place, till, id)
end

local function opens(c, till, id)
  c.open = c.open + 1
  rise(c, c.open, till, id)
  c.due = reservation(c, 1)
end

local function closes(c, id)
  local place = tonumber(get(c, 'p:' .. id))
  local till, last = reservation(c, c.open)
  put(c, 'h:' .. c.open, false)
  put(c, 'p:' .. id, false)
  c.open = c.open - 1
  if last ~= id then
    if place > 1 and reservation(c, parent(place)) > till then
      rise(c, place, till, last)
    else
      sink(c, place, till, last)
    end
  end
  c.due = c.open > 0 and reservation(c, 1) or 0
end

local function giveBack(c, entry, status)
  closes(c, entry.id)
  c.value, c.reserved = c.value - tonumber(entry.change), c.reserved + tonumber(entry.change)
  entry.status, entry.change = status, '0'
  write(c, entry)
  return entry
end

-- Returns what is due to stock; false where more is due than one script may return.
local function settle(c)
  while c.due > 0 and c.due <= now do
    if settleable == 0 then
      return false
    end
    settleable = settleable - 1
    local _, id = reservation(c, 1)
    giveBack(c, find(c, id), 'e')
  end
  return true
end

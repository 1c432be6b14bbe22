-- What becomes of a request: operations under one id on one or several counters, all or none. Follows
-- counter.lua in the verbs that change counters.

-- An operation, not yet decided; the i-th key's.
local function asked(i, id, what, issued, records)
  local verb, a, b = match(what, '^(%a+) ?(%S*) ?(%S*)$')
  return {
    key = KEYS[i], id = id, what = what, verb = verb, a = tonumber(a), b = tonumber(b),
    issued = tonumber(issued), records = records == '1',
    resolves = verb == 'confirm' or verb == 'cancel' or verb == 'close',
  }
end

-- Reads the counters of all operations, each in one call.
local function openAll(asks)
  local ids, keys = {}, {}
  for i = 1, #asks do
    local key = asks[i].key
    if not ids[key] then
      ids[key] = {}
      keys[#keys + 1] = key
    end
    table.insert(ids[key], asks[i].id)
  end
  for i = 1, #keys do
    open(keys[i], ids[keys[i]])
  end
  for i = 1, #asks do
    asks[i].c = opened[asks[i].key]
  end
end

local function unchanged(ask, what, status, issued)
  return written({
    id = ask.id, status = status, change = '0', value = ask.c.value, at = now, issued = issued,
    till = 0, what = what,
  })
end

-- Value, floor, ceiling and reserved after an operation; nothing where it does not apply.
local function after(ask)
  local c, verb, a, b = ask.c, ask.verb, ask.a, ask.b
  if verb == 'add' then
    return c.value + a, c.floor, c.ceiling, c.reserved
  elseif verb == 'set' then
    return a, c.floor, c.ceiling, c.reserved
  elseif verb == 'compareAndSet' then
    if c.value == a then
      return b, c.floor, c.ceiling, c.reserved
    end
  elseif verb == 'bounds' then
    return c.value, a, b, c.reserved
  elseif verb == 'reserve' then
    return c.value - a, c.floor, c.ceiling, c.reserved + a
  else
    error('no such operation: ' .. ask.what)
  end
end

local function isPossible(ask)
  local value, floor, ceiling, reserved = after(ask)
  return value and floor <= value and value + reserved <= ceiling and reserved <= LARGEST
end

-- What changed a counter from one value to another, as text: it can be beyond 2^53.
local function difference(from, to)
  local sum = to - from
  if sum >= -LARGEST and sum <= LARGEST then
    return format('%.0f', sum)
  end
  local fmod = math.fmod
  local rest = fmod(to, UNIT) - fmod(from, UNIT)
  local units = (to - fmod(to, UNIT)) / UNIT - (from - fmod(from, UNIT)) / UNIT
  units, rest = units + (rest - fmod(rest, UNIT)) / UNIT, fmod(rest, UNIT)
  if sum > 0 and rest < 0 then
    units, rest = units - 1, rest + UNIT
  elseif sum < 0 and rest > 0 then
    units, rest = units + 1, rest - UNIT
  end
  return format('%.0f%08.0f', units, math.abs(rest))
end

local function make(ask)
  local c, reserves = ask.c, ask.verb == 'reserve'
  local before = c.value
  c.value, c.floor, c.ceiling, c.reserved = after(ask)
  local entry = {
    id = ask.id, status = reserves and 'o' or 'a', change = difference(before, c.value),
    value = c.value, at = now, issued = ask.issued, till = reserves and now + ask.b or 0, what = ask.what,
  }
  enter(c, entry)
  if reserves then
    opens(c, entry.till, entry.id)
  end
  return entry
end

local function decide(asks)
  local entries, possible = {}, true
  for i = 1, #asks do
    possible = possible and isPossible(asks[i])
  end
  for i = 1, #asks do
    if possible then
      entries[i] = make(asks[i])
    else
      entries[i] = unchanged(asks[i], asks[i].what, 'r', asks[i].issued)
      if asks[i].records then
        enter(asks[i].c, entries[i])
      end
    end
  end
  return possible and APPLIED or REFUSED, entries
end

local function change(asks)
  local entries, first, known, refused = {}, nil, 0, 0
  for i = 1, #asks do
    local entry = find(asks[i].c, asks[i].id)
    if entry then
      if entry.what ~= asks[i].what then
        return CONFLICT, {entry}, i
      end
      entries[i], first, known = entry, first or i, known + 1
      refused = refused + (entry.status == 'r' and 1 or 0)
    end
  end
  for i = 1, #asks do
    if not entries[i] and asks[i].issued < asks[i].c.from then
      return TOO_OLD, {}, i
    end
  end
  if known == 0 then
    return decide(asks)
  elseif known < #asks or (refused > 0 and refused < known) then
    return CONFLICT_ELSEWHERE, {entries[first]}, first
  end
  return refused > 0 and REFUSED or APPLIED, entries
end

local function resolveOne(ask, entry)
  local c = ask.c
  if entry.status == 'n' then
    if not find(c, entry.id) then
      enter(c, entry)
    end
  elseif entry.status == 'o' and ask.verb == 'cancel' then
    giveBack(c, entry, 'x')
  elseif entry.status == 'o' and ask.verb == 'confirm' then
    closes(c, entry.id)
    c.reserved, entry.status = c.reserved + tonumber(entry.change), 'c'
    write(c, entry)
  end
end

local function resolve(asks)
  local entries, possible = {}, true
  for i = 1, #asks do
    local ask = asks[i]
    local entry = find(ask.c, ask.id)
    if not entry and ask.issued < ask.c.from then
      return TOO_OLD, {}, i
    elseif not entry then
      entry = unchanged(ask, 'close', 'n', math.max(ask.issued, now))
    elseif ask.verb ~= 'close' and entry.what ~= 'close' and not match(entry.what, '^reserve') then
      return CONFLICT, {entry}, i
    end
    entries[i] = entry
    local status = entry.status
    possible = possible and (ask.verb == 'close' or (ask.verb == 'cancel' and status ~= 'c')
      or (ask.verb == 'confirm' and (status == 'o' or status == 'c')))
  end
  if possible then
    for i = 1, #asks do
      resolveOne(asks[i], entries[i])
    end
  end
  return possible and APPLIED or REFUSED, entries
end

-- What becomes of the operations, which share an id; their entries, or the one that is in the way; and
-- of which operation it is, or that is too old.
local function apply(asks)
  for i = 1, #asks do
    local c = asks[i].c
    if c.new and not c.changed and isALock(c) then
      return IS_A_LOCK, {}, i
    elseif not settle(c) then
      return AGAIN, {}, i
    end
  end
  if asks[1].resolves then
    return resolve(asks)
  end
  return change(asks)
end

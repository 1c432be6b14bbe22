-- Operations on single counters, each decided for itself, in their order.
--
-- ARGV[1]  see counter.lua
-- then per key: id; operation, in the words of Java's Operation; when the id was first used, in ms;
--               1 to remember a refusal
-- Answers  per key: what becomes of it (see numbers.lua); its entry, or the one that is in the way, or,
--          if it is too old, from when on ids are remembered

-- Short cut: additions to one counter under ids that it does not know, with nothing due and nothing to
-- forget. Does just what the rule would do; answers nothing where it is not for these operations.
local function addAll()
  local match, format = string.match, string.format
  local key, fields, amounts, known = KEYS[1], {'.'}, {}, {}
  for i = 1, #KEYS do
    local amount, id = match(ARGV[4 * i - 1], '^add (.+)$'), ARGV[4 * i - 2]
    if KEYS[i] ~= key or not amount or known[id] then
      return nil
    end
    amounts[i], fields[i + 1], known[id] = amount, 'e:' .. id, true
  end
  local found = redis.call('HMGET', key, unpack(fields))
  if not found[1] then
    return nil
  end
  local value, kept, floor, ceiling, reserved, from, first, next, entered, rest, due = match(found[1],
    '^(%S+) ((%S+) (%S+) (%d+) %S+ %d+ (%d+) (%d+)) (%d+) (%d+) (%d+ (%d+))$')
  local clock = redis.call('TIME')
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
  due, from, entered = tonumber(due), tonumber(from), tonumber(entered)
  if (due > 0 and due <= now) or first == next or entered < now - ARGV[1] then
    return nil
  end
  for i = 1, #KEYS do
    if found[i + 1] or tonumber(ARGV[4 * i]) < from then
      return nil
    end
  end
  value, floor, ceiling = tonumber(value), tonumber(floor), tonumber(ceiling)
  reserved, next = tonumber(reserved), tonumber(next)
  local time, set, answers = format('%.0f', now), {'.', ''}, {}
  for i = 1, #KEYS do
    local sum, code, head = value + amounts[i], REFUSED, 'r 0 '
    if floor <= sum and sum + reserved <= ceiling then
      value, code, head = sum, APPLIED, 'a ' .. amounts[i] .. ' '
    end
    local a = 4 * i - 2
    local entry = head .. format('%.0f', value) .. ' ' .. time .. ' ' .. ARGV[a + 2] .. ' 0 ' .. ARGV[a + 1]
    if code == APPLIED or ARGV[a + 3] == '1' then
      local n = #set
      set[n + 1], set[n + 2], set[n + 3], set[n + 4] =
        fields[i + 1], entry, 'q:' .. next, time .. ' ' .. ARGV[a]
      next = next + 1
    end
    answers[2 * i - 1], answers[2 * i] = code, entry
  end
  if #set > 2 then
    set[2] = format('%.0f %s %.0f %.0f %s', value, kept, next, entered, rest)
    redis.call('HSET', key, unpack(set))
  end
  return answers
end

local added = addAll()
if added then
  return added
end

-- counter/counter.lua

-- counter/request.lua

local asks, answers = {}, {}
for i = 1, #KEYS do
  asks[i] = asked(i, ARGV[4 * i - 2], ARGV[4 * i - 1], ARGV[4 * i], ARGV[4 * i + 1])
end
openAll(asks)
for i = 1, #asks do
  local code, entries = apply({asks[i]})
  answers[2 * i - 1] = code
  answers[2 * i] = entries[1] and entries[1].text or format('%.0f', asks[i].c.from)
end
save()
return answers

-- Reads locks as they stand, for people; writes nothing.
--
-- Answers  the server's time in ms; then per key the number of texts that follow: none where there is
--          no such lock; else its last token, its capacity as in layout.lua, and eight for each claim,
--          holders first and then the line in order: h or w; id; mode; first and last token; since;
--          until; who it is

-- lock/layout.lua

local function text(number)
  return string.format('%d', number)
end

local function describe(found, hash)
  local fields = {}
  for i = 1, #hash, 2 do
    fields[hash[i]] = hash[i + 1]
  end
  local last, _, _, capacity = struct.unpack(IDLE, fields['.'])
  found[#found + 1] = text(last)
  found[#found + 1] = text(capacity)
  if #fields['.'] == IDLE_BYTES then
    return
  end

  local function add(id)
    local raw = fields['e:' .. id]
    local kind, till, _, _, _, since, first, last, _, _, next, mode, _, info = struct.unpack(CLAIM, raw)
    if kind < 'a' then
      _, info = struct.unpack(LEAST, raw, info)
      kind = kind == 'W' and 'w' or 'h'
    end
    for _, each in ipairs({kind, id, mode, text(first), text(last), text(since),
        text(till), string.sub(raw, info)}) do
      found[#found + 1] = each
    end
    return next
  end

  local _, _, _, _, _, _, _, _, waiters, _, run, _, holder = struct.unpack(BUSY, fields['.'])
  while holder ~= '' do
    holder = add(holder)
  end
  while waiters > 0 do
    local raw = fields['q:' .. run]
    local _, next, _, count, _, client, numbers = struct.unpack(RUN, raw)
    for number in string.gmatch(string.sub(raw, numbers), '%d+') do
      add(client .. '.' .. number)
    end
    waiters = waiters - count
    run = next
  end
end

local clock = redis.call('TIME')
local found = {clock[1] * 1000 + math.floor(clock[2] / 1000)}
for i = 1, #KEYS do
  local hash = redis.call('HGETALL', KEYS[i])
  local size = #found + 1
  found[size] = 0
  if #hash > 0 then
    describe(found, hash)
  end
  found[size] = #found - size
end
return found

-- Keeps held claims alive for another lease each, and waiting ones for as long as they need; tells how
-- each stands.
--
-- ARGV[1]  address of the calling store
-- then per key: claim id
-- Answers  see rule.lua

-- lock/layout.lua

local call, pack, parse = redis.call, struct.pack, struct.unpack
local LETTER_AND_UNTIL = '<c1d' -- how a CLAIM begins
local LEASE_AT = struct.size(LETTER_AND_UNTIL) + 1
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local standings = {}
local header -- of the lock that a short cut looked at
local wrote -- the first write is one that the server allows without memory: it allows all behind it

-- Short cut: the only holder, in time and without a shortest hold, of a lock that has nobody in line
-- or no room, and nobody withdrawn. Does just what the rule would do; false where it is not for the
-- i-th claim.
local function renews(i)
  local key, field = KEYS[i], 'e:' .. ARGV[i + 1]
  local found = call('HMGET', key, '.', field)
  local claim = found[2]
  header = found[1]
  if not claim or #header == IDLE_BYTES or string.sub(claim, 1, 1) ~= 'h' then
    return false
  end
  local last, at, keep, capacity, used, soonest, look, hn, wn, gn, wf, wl, hf, hl, gf, gl =
    parse(BUSY, header)
  if hn ~= 1 or gn > 0 or now >= soonest or now < at or wn > 0 and used < ALL_OF_A_LOCK then
    return false
  end
  local _, _, lease, _, _, _, first, final = parse(CLAIM, claim)
  local till = now + lease
  local expire = keep < till + MEMORY
  keep = expire and till + 2 * MEMORY or keep
  if expire or not wrote then
    call('PEXPIREAT', key, string.format('%d', keep))
    wrote = true
  end
  call('HSET', key,
    '.', pack(BUSY, last, now, keep, capacity, used, till, look, hn, wn, gn, wf, wl, hf, hl, gf,
      gl),
    field, pack(LETTER_AND_UNTIL, 'h', till) .. string.sub(claim, LEASE_AT))
  standings[2 * i - 1], standings[2 * i] = first, final
  return true
end

local rest = 1
while rest <= #KEYS and renews(rest) do
  rest = rest + 1
end
if rest > #KEYS then
  return standings
end

-- lock/hash.lua
-- lock/rule.lua

for i = rest, #KEYS do
  local key = KEYS[i]
  if i == rest or isOpen(key) or not renews(i) then
    local id = ARGV[i + 1]
    local token, other = 0, GONE
    open(key, header)
    settle()
    local c = alive(id)
    if c and c.kind ~= 'g' and not c.lingers then
      token, other = renewed(c)
    end
    standings[2 * i - 1], standings[2 * i] = token, other
  end
end
return answer(standings)

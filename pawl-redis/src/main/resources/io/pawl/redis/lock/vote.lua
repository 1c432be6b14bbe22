-- Whether this server votes as a node of a quorum: whether it has forgotten nothing that was granted
-- within the longest lease, and its tokens are above all that were told before. Stands before
-- attempt.lua, so that who answers an attempt is who was looked at; and alone in incarnation.lua,
-- without keys. LEASE_IN_MS stands for the longest lease.
--
-- The key pawl:quorum says under which run id the server has noted its claims, and from when on it
-- votes by its own clock. It is lost with them (an empty restart, FLUSHALL), and after a restart from
-- a file, a failover or behind another address the run id is another: what the file or the replica
-- did not have yet may be forgotten. Either way the server votes a longest lease later, and once a
-- client has told it in "high" what tokens it must stay above. No token that it granted was above
-- "high" or, where that is less, above what its clock shows in 30 s: locks that it does not know
-- begin there. Beside a clock that is ahead "high" stands in for the tokens of locks that expired.
-- A file may have older tokens of a lock than were told: "above" is what all locks go on above, and
-- holds of which no attempt has told the tokens.

local runId, votesIn, longest, from, high, above, micros

do
  runId = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
  local clock = redis.call('TIME')
  micros = clock[1] * 1000000 + clock[2]
  local now = (micros - micros % 1000) / 1000
  local noted = redis.call('HMGET', 'pawl:quorum', 'run', 'from', 'longest', 'high', 'above')
  from, high, above = tonumber(noted[2]), tonumber(noted[4]), tonumber(noted[5]) or 0
  longest = tonumber(noted[3]) or LEASE_IN_MS
  if noted[1] ~= runId or not from or from > now + longest then
    from, high, above = now + LEASE_IN_MS, nil, 0
    longest = LEASE_IN_MS
    redis.call('HDEL', 'pawl:quorum', 'high', 'above')
    redis.call('HSET', 'pawl:quorum', 'run', runId, 'from', string.format('%d', from),
      'longest', string.format('%d', longest))
  end
  votesIn = math.max(0, from - now)
end

if #KEYS > 0 and (votesIn > 0 or not high or longest ~= LEASE_IN_MS) then
  local refused = {}
  for i = 1, #KEYS do
    refused[2 * i - 1] = 0
    refused[2 * i] = longest == LEASE_IN_MS and NO_VOTE_YET - votesIn
      or votesIn > 0 and NO_VOTE_YET - votesIn or OTHER_LONGEST_LEASE
  end
  return refused
end

if #KEYS > 0 and high > TOKENS_PER_MICROSECOND * micros then
  for i = 1, #KEYS do
    local known = redis.call('HGET', KEYS[i], '.')
    if not known or struct.unpack('<d', known) == 0 then
      ARGV[8 * i - 1] = string.format('%.0f', math.max(tonumber(ARGV[8 * i - 1]), high))
    end
  end
end

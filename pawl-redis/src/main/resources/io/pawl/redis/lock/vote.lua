-- Whether this server votes as a node of a quorum: whether it has forgotten nothing that was granted
-- within the longest lease. Stands before attempt.lua, so that who answers an attempt is who was
-- looked at; and alone in incarnation.lua, without keys. LEASE_IN_MS stands for the longest lease.
--
-- The key pawl:quorum says under which run id the server has noted its claims, and from when on it
-- votes by its own clock. It is lost with them (an empty restart, FLUSHALL), and after a restart from
-- a file, a failover or behind another address the run id is another: what the file or the replica
-- did not have yet may be forgotten. Either way the server votes a longest lease later.

local runId, votesIn, longest

do
  runId = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
  local clock = redis.call('TIME')
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
  local noted = redis.call('HMGET', 'pawl:quorum', 'run', 'from', 'longest')
  local from = tonumber(noted[2])
  longest = tonumber(noted[3]) or LEASE_IN_MS
  if noted[1] ~= runId or not from or from > now + longest then
    from = now + LEASE_IN_MS
    longest = LEASE_IN_MS
    redis.call('HSET', 'pawl:quorum', 'run', runId, 'from', string.format('%d', from),
      'longest', string.format('%d', longest))
  end
  votesIn = math.max(0, from - now)
end

if #KEYS > 0 and (votesIn > 0 or longest ~= LEASE_IN_MS) then
  local refused = {}
  for i = 1, #KEYS do
    refused[2 * i - 1] = 0
    refused[2 * i] = votesIn > 0 and NO_VOTE_YET - votesIn or OTHER_LONGEST_LEASE
  end
  return refused
end

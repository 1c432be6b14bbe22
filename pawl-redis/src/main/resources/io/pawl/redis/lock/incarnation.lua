-- Who this server is as a node of a quorum.
--
-- ARGV[1]  trust: it votes from now on; else anything
-- Answers  its run id; in how many ms it votes; how long a claim may last at it, in ms

-- lock/vote.lua

if ARGV[1] == 'trust' then
  local clock = redis.call('TIME')
  longest, votesIn = LEASE_IN_MS, 0
  redis.call('HSET', 'pawl:quorum', 'run', runId, 'longest', string.format('%d', longest), 'from',
    string.format('%d', clock[1] * 1000 + math.floor(clock[2] / 1000)))
end
return {runId, votesIn, longest}

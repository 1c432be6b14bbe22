-- Who this server is as a node of a quorum.
--
-- ARGV[1]  trust: it votes from now on; raise: its tokens go on above ARGV[3], if ARGV[2] is still
--          from when on it votes; else anything
-- Answers  its run id; in how many ms it votes; how long a claim may last at it, in ms; from when on
--          it votes; 1 if it was told what to stay above, else 0; a token as large as any that it
--          granted

-- lock/vote.lua

if ARGV[1] == 'trust' then
  longest, votesIn, high = LEASE_IN_MS, 0, high or 0
  from = (micros - micros % 1000) / 1000
elseif ARGV[1] == 'raise' and string.format('%d', from) == ARGV[2] then
  above = above > 0 and above or tonumber(ARGV[3]) -- the first is enough; holds were granted since
  high = math.max(high or 0, tonumber(ARGV[3]))
  redis.call('HSET', 'pawl:quorum', 'above', string.format('%.0f', above))
end
if ARGV[1] == 'trust' or ARGV[1] == 'raise' then
  redis.call('HSET', 'pawl:quorum', 'run', runId, 'longest', string.format('%d', longest), 'from',
    string.format('%d', from))
  if high then
    redis.call('HSET', 'pawl:quorum', 'high', string.format('%.0f', high))
  end
end
return {runId, votesIn, longest, from, high and 1 or 0,
  math.max(high or 0, TOKENS_PER_MICROSECOND * micros + UNNOTED)}

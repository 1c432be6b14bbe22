-- Follows attempt.lua, which is the function attempts, at a node of a quorum: notes in "high" the
-- tokens that are further ahead of the clock than is taken for granted, with as much to spare.

local standings, highest = attempts(), high
for i = 1, #KEYS do
  if standings[2 * i - 1] > 0 then
    highest = math.max(highest, standings[2 * i])
  end
end
if highest > high and highest > TOKENS_PER_MICROSECOND * micros + UNNOTED then
  redis.call('HSET', 'pawl:quorum', 'high', string.format('%.0f', math.min(LARGEST, highest + UNNOTED)))
end
return standings

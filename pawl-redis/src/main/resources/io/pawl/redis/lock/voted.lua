-- Follows attempt.lua, which is the function attempts, at a node of a quorum: notes in "high" the
-- tokens that are further ahead of the clock than is taken for granted. A little to spare: not each
-- grant has to note it, and locks that begin there, each above the one before, do not run away.

local standings, highest = attempts(), high
for i = 1, #KEYS do
  if standings[2 * i - 1] > 0 then
    highest = math.max(highest, standings[2 * i])
  end
end
if highest > high and highest > TOKENS_PER_MICROSECOND * micros + UNNOTED then
  redis.call('HSET', 'pawl:quorum', 'high', string.format('%.0f', math.min(LARGEST, highest + SPARE)))
end
return standings

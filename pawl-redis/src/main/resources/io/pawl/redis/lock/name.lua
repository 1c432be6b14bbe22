-- Whether a counter has the name: asked only where there is no hash yet. In a Cluster it can be on
-- another node, and then is not seen.
local function isACounter(key)
  local counter = redis.pcall('HGET', 'pawl:counter:' .. string.sub(key, #'pawl:lock:' + 1), '.')
  return type(counter) == 'string'
end

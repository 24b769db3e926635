-- A page of a sorted set from behind a member that need not be there any more. KEYS is the set. ARGV is the direction,
-- the bound of the scores below the range (empty if there is none), the upper bound of the range, the score and the
-- bytes of the member, and how many rows. It costs what it returns, and a search in the ranks of the member's score.
local key = KEYS[1]
local call = redis.call
local ascending, below, max = ARGV[1] == 'ascending', ARGV[2], ARGV[3]
local score, member, count = ARGV[4], ARGV[5], tonumber(ARGV[6])

-- Bytes, where the comparison of Lua would follow the locale.
local function before(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then
      return x < y
    end
  end
  return #a < #b
end

local low = below == '' and 0 or call('ZCOUNT', key, '-inf', below)
local high = call('ZCOUNT', key, '-inf', max)

-- The number of rows before the place, or up to it if the way is upwards.
local from, to = call('ZCOUNT', key, '-inf', '(' .. score), call('ZCOUNT', key, '-inf', score)
while from < to do
  local middle = math.floor((from + to) / 2)
  local found = call('ZRANGE', key, middle, middle)[1]
  local behind
  if ascending then
    behind = before(member, found)
  else
    behind = not before(found, member)
  end
  if behind then
    to = middle
  else
    from = middle + 1
  end
end

if ascending then
  local first = math.max(low, from)
  local last = math.min(high, first + count) - 1
  if last < first then
    return {}
  end
  return call('ZRANGE', key, first, last, 'WITHSCORES')
end
local last = math.min(high, from)
local first = math.max(low, last - count)
if last <= first then
  return {}
end
local size = call('ZCARD', key)
return call('ZREVRANGE', key, size - last, size - first - 1, 'WITHSCORES')

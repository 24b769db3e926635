-- Commands that are done together, if everything that they were made from is still so. Before this text comes the step on a
-- queue, as the function `queue(KEYS, ARGV)`.
--
-- KEYS are all keys that are named; ARGV has, one after the other:
--   a count, and as often: the number of a key, and the type that it must have if it is there
--   a count, and as often: what was read, the number of its key, the part of it, and `=` and what was found, or nothing
--   a count, and as often: how many words a command has, its name, the number of its key, and the other words
--
-- The server undoes nothing of a script that fails. So everything that can fail is looked at before the first change.
local call = redis.call
local at = 0

local function word()
  at = at + 1
  return ARGV[at]
end

local function number()
  return tonumber(word())
end

for _ = 1, number() do
  local place, wanted = number(), word()
  local key = KEYS[place]
  local found = call('TYPE', key).ok
  local fits = found == wanted
  if fits and wanted == 'list' then
    fits = call('LINDEX', key, 0) == 'keyplan:queue'
  end
  if found ~= 'none' and not fits then
    return { 'kind', place }
  end
end

for read = 1, number() do
  local what, key, part, expected = word(), KEYS[number()], word(), word()
  local same
  if what == 'score' then
    local found = call('ZSCORE', key, part)
    if found then
      same = expected ~= '' and tonumber(found) == tonumber(string.sub(expected, 2))
    else
      same = expected == ''
    end
  else
    local found
    if what == 'value' then
      found = call('GET', key)
    elseif what == 'field' then
      found = call('HGET', key, part)
    else
      found = call('SISMEMBER', key, part) == 1 and ''
    end
    same = (found and '=' .. found or '') == expected
  end
  if not same then
    return { 'changed', read }
  end
end

local replies = {}
for command = 1, number() do
  local count = number()
  local words = {}
  for i = 1, count do
    words[i] = word()
  end
  local place = tonumber(words[2])
  if words[1] == 'queue' then
    local keys = { KEYS[place], KEYS[place + 1], KEYS[place + 2], KEYS[place + 3], KEYS[place + 4], KEYS[place + 5] }
    replies[command] = queue(keys, { unpack(words, 3) })
  else
    words[2] = KEYS[place]
    replies[command] = call(unpack(words))
  end
end
return { 'done', replies }

-- One step on a queue. KEYS are the queue, its items that wait, its leases, its dead, what is known of its items, and
-- the last receipt; ARGV is the step and what it needs. A queue that another program shares has its items that wait
-- under its own key; any other has a mark there, of a type that nothing else here uses, so that a key is one thing.
--
-- What is known of an item: its attempts and, while it is claimed, `attempts receipt again score`.
local key, waiting, leases, dead, items, receipts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local step = ARGV[1]
local marked = key ~= waiting
local call = redis.call
local MARK = 'keyplan:queue'

local kind = call('TYPE', key).ok
local fits = kind == 'none'
if marked then
  fits = fits or (kind == 'list' and call('LINDEX', key, 0) == MARK)
else
  fits = fits or kind == 'zset'
end
if not fits then
  return redis.error_reply('WRONGTYPE the key is not a queue')
end

-- Attempts, receipt, whether it was pushed again, score; the last three only while it is claimed.
local function known(member)
  local text = call('HGET', items, member)
  if not text then
    return '0'
  end
  local attempts, receipt, again, score = string.match(text, '^(%d+) (%d+) ([01]) (.+)$')
  if attempts then
    return attempts, receipt, again, score
  end
  return text
end

local function hold(member, attempts, receipt, again, score)
  call('HSET', items, member, attempts .. ' ' .. receipt .. ' ' .. again .. ' ' .. score)
end

local function wait(member, attempts, score)
  -- Another program may have pushed it meanwhile, and its score is the later one.
  call('ZADD', waiting, 'NX', score, member)
  if attempts == '0' then
    call('HDEL', items, member)
  else
    call('HSET', items, member, attempts)
  end
end

local function die(member, attempts, score)
  call('ZADD', dead, score, member)
  call('HSET', items, member, attempts)
end

-- Something that is empty does not exist.
local function settle()
  if marked then
    local there = call('EXISTS', waiting, leases, dead) > 0
    if there and kind == 'none' then
      call('RPUSH', key, MARK)
    elseif not there and kind ~= 'none' then
      call('DEL', key)
    end
  end
end

if step == 'push' then
  local member, score, new = ARGV[2], ARGV[3], 0
  if call('ZSCORE', leases, member) then
    local attempts, receipt = known(member)
    hold(member, attempts, receipt, '1', score)
  elseif call('ZSCORE', dead, member) then
    -- What needs memory comes first: after the first write of a script the server no longer refuses it.
    call('ZADD', waiting, score, member)
    call('ZREM', dead, member)
    call('HDEL', items, member)
  else
    new = call('ZADD', waiting, score, member)
    if new == 1 then
      call('HDEL', items, member)
    end
  end
  settle()
  return new
end

if step == 'claim' then
  local count, lease, most = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
  local now = tonumber(ARGV[5])
  if not now then
    local time = call('TIME')
    now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  for _, member in ipairs(call('ZRANGEBYSCORE', leases, '-inf', string.format('%.0f', now), 'LIMIT', 0, 10000)) do
    local attempts, _, again, score = known(member)
    call('ZREM', leases, member)
    if again == '1' then
      wait(member, '0', score)
    elseif most and tonumber(attempts) >= most then
      die(member, attempts, score)
    else
      wait(member, attempts, score)
    end
  end
  local first = {}
  if count > 0 then
    first = call('ZPOPMIN', waiting, ARGV[2])
  end
  local until_ = string.format('%.0f', math.min(now + lease, 9007199254740991))
  local receipt, claimed = nil, {}
  for i = 1, #first, 2 do
    local member, score = first[i], first[i + 1]
    local attempts, held = known(member)
    if call('ZSCORE', leases, member) then
      -- Another program pushed what a worker holds.
      hold(member, attempts, held, '1', score)
    else
      if call('ZREM', dead, member) == 1 then
        attempts = '0'
      end
      receipt = receipt or string.format('%.0f', call('INCR', receipts))
      attempts = string.format('%.0f', tonumber(attempts) + 1)
      hold(member, attempts, receipt, '0', score)
      call('ZADD', leases, until_, member)
      claimed[#claimed + 1] = member
      claimed[#claimed + 1] = score
      claimed[#claimed + 1] = attempts
    end
  end
  settle()
  return { receipt or '0', claimed }
end

if step == 'acknowledge' or step == 'release' or step == 'bury' then
  local member, receipt = ARGV[2], ARGV[3]
  if not call('ZSCORE', leases, member) then
    return 0
  end
  local attempts, held, again, score = known(member)
  if held ~= receipt then
    return 0
  end
  call('ZREM', leases, member)
  if again == '1' then
    wait(member, '0', score)
  elseif step == 'acknowledge' then
    call('HDEL', items, member)
  elseif step == 'release' then
    wait(member, attempts, score)
  else
    die(member, attempts, score)
  end
  settle()
  return 1
end

if step == 'restore' then
  local member, score, attempts, state, until_ = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
  local old = call('ZREM', waiting, member) + call('ZREM', leases, member) + call('ZREM', dead, member)
  if state == 'waiting' then
    wait(member, attempts, score)
  elseif state == 'dead' then
    die(member, attempts, score)
  else
    -- Receipts begin with 1: nobody has this one.
    hold(member, attempts, '0', '0', score)
    call('ZADD', leases, until_, member)
  end
  settle()
  return 1 - math.min(old, 1)
end

if step == 'remove' then
  local member = ARGV[2]
  local gone = call('ZREM', waiting, member) + call('ZREM', leases, member) + call('ZREM', dead, member)
  call('HDEL', items, member)
  settle()
  return math.min(gone, 1)
end

if step == 'size' then
  return { call('ZCARD', waiting), call('ZCARD', leases), call('ZCARD', dead) }
end

if step == 'peek' then
  return call('ZRANGE', waiting, 0, ARGV[2], 'WITHSCORES')
end

if step == 'item' then
  local member = ARGV[2]
  local attempts, _, _, score = known(member)
  local lease = call('ZSCORE', leases, member)
  if lease then
    return { 'claimed', score, attempts, lease }
  end
  score = call('ZSCORE', waiting, member)
  if score then
    return { 'waiting', score, attempts, '0' }
  end
  score = call('ZSCORE', dead, member)
  if score then
    return { 'dead', score, attempts, '0' }
  end
  return false
end

return redis.error_reply('ERR there is no such step')

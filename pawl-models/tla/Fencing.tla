------------------------------ MODULE Fencing ------------------------------
(***************************************************************************)
(* A lease, a pause, and a resource that checks fencing tokens.            *)
(* Classes: io.pawl.engine.Validity, io.pawl.Lease, io.pawl.fence.Fence.   *)
(*                                                                         *)
(* What is modelled.  One store grants one lock.  A client asks, hears of  *)
(* its grant at any later time, renews, looks at its lease, and writes.    *)
(* Between any two of its steps it may pause for any time: the lease runs  *)
(* out meanwhile, the store grants the lock to another, and the write that *)
(* was decided before the pause arrives long after.  The resource accepts  *)
(* a write whose token is at least the largest that it has seen.           *)
(*                                                                         *)
(* Time is what is left of each lease, in ticks; all clocks tick together. *)
(* A client that pauses, crashes or loses a message does nothing.          *)
(*                                                                         *)
(* What is left out.  Drift, waiting, local passing (many leases of one    *)
(* hold), a store that loses what it acknowledged.                         *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, Sights

CONSTANTS
    Clients,
    Nobody,
    Lease,     \* in ticks
    MaxGrants, \* how many grants there are at most
    Mutant     \* "none", or the name of a mistake

VARIABLES
    holder,    \* store: who holds the lock
    left,      \* store: what is left of the lease
    counter,   \* store: the last token
    grants,    \* how many grants there were: the true order
    request,   \* client: what is left of a lease counted from its request; 0: too late
    state,     \* client: idle, asking, granted (not heard yet), holding
    valid,     \* client: how long its lease claims to be valid
    grant,     \* client: the number of its grant
    token,     \* client: its token
    writes,    \* writes under way, each with its token and the number of its grant
    fence,     \* resource: the largest token that it has seen
    written,   \* resource: the largest grant that has written
    stale      \* resource: whether an earlier holder has written after a later one

store == <<holder, left, counter, grants>>
client == <<request, state, valid, grant, token>>
resource == <<writes, fence, written, stale>>
vars == <<store, client, resource>>

Less(n) == IF n > 0 THEN n - 1 ELSE 0

Init ==
    /\ holder = Nobody /\ left = 0 /\ counter = 0 /\ grants = 0
    /\ request = [c \in Clients |-> 0]
    /\ state = [c \in Clients |-> "idle"]
    /\ valid = [c \in Clients |-> 0]
    /\ grant = [c \in Clients |-> 0]
    /\ token = [c \in Clients |-> 0]
    /\ writes = {} /\ fence = 0 /\ written = 0 /\ stale = FALSE

-----------------------------------------------------------------------------

Ask(c) ==
    /\ state[c] = "idle"
    /\ state' = [state EXCEPT ![c] = "asking"]
    /\ request' = [request EXCEPT ![c] = Lease]
    /\ UNCHANGED <<store, valid, grant, token, resource>>

(* The store reads the request, and counts the lease from then. *)
Grant(c) ==
    /\ state[c] = "asking"
    /\ holder = Nobody
    /\ grants < MaxGrants
    /\ holder' = c
    /\ left' = Lease
    /\ counter' = IF Mutant = "TokensStartAnew" THEN 1 ELSE counter + 1
    /\ grants' = grants + 1
    /\ state' = [state EXCEPT ![c] = "granted"]
    /\ grant' = [grant EXCEPT ![c] = grants']
    /\ token' = [token EXCEPT ![c] = counter']
    /\ UNCHANGED <<request, valid, resource>>

(* The client counts from before it sent the request. *)
Hear(c) ==
    LET ticks == IF Mutant = "CountsFromTheAnswer" THEN Lease ELSE request[c]
    IN  /\ state[c] = "granted"
        /\ state' = [state EXCEPT ![c] = IF ticks > 0 THEN "holding" ELSE "idle"]
        /\ valid' = [valid EXCEPT ![c] = ticks]
        /\ request' = [request EXCEPT ![c] = 0]
        /\ UNCHANGED <<store, grant, token, resource>>
        /\ SightIf(ticks = 0, "a grant heard of too late")

Renew(c) ==
    /\ state[c] = "holding" /\ valid[c] > 0
    /\ holder = c
    /\ left' = Lease
    /\ valid' = [valid EXCEPT ![c] = Lease]
    /\ UNCHANGED <<holder, counter, grants, request, state, grant, token, resource>>

(* isValid() was true a moment ago; the write begins its way. *)
Write(c) ==
    /\ state[c] = "holding" /\ valid[c] > 0
    /\ writes' = writes \cup {[token |-> token[c], grant |-> grant[c]]}
    /\ UNCHANGED <<store, client, fence, written, stale>>

(* The lease is closed, or found to be over; its withdrawal may never arrive. *)
Close(c) ==
    /\ state[c] = "holding"
    /\ state' = [state EXCEPT ![c] = "idle"]
    /\ valid' = [valid EXCEPT ![c] = 0]
    /\ \/ UNCHANGED store
       \/ /\ holder = c
          /\ holder' = Nobody /\ left' = 0
          /\ UNCHANGED <<counter, grants>>
    /\ UNCHANGED <<request, grant, token, resource>>

-----------------------------------------------------------------------------

Arrive(w) ==
    LET accepted == w.token >= fence \/ Mutant = "HasNoFence"
    IN  /\ writes' = writes \ {w}
        /\ fence' = IF accepted /\ w.token > fence THEN w.token ELSE fence
        /\ written' = IF accepted /\ w.grant > written THEN w.grant ELSE written
        /\ stale' = (stale \/ (accepted /\ w.grant < written))
        /\ UNCHANGED <<store, client>>
        /\ SightIf(accepted /\ written > 0 /\ w.grant > written, "a write of a later holder")
        /\ SightIf(~accepted, "a stale write that was refused")

FenceForgets ==
    /\ Mutant = "ForgetsTheLargestToken"
    /\ fence' = 0
    /\ UNCHANGED <<store, client, writes, written, stale>>

Tick ==
    /\ left' = Less(left)
    /\ holder' = IF left <= 1 THEN Nobody ELSE holder
    /\ request' = [c \in Clients |-> Less(request[c])]
    /\ valid' = [c \in Clients |-> Less(valid[c])]
    /\ UNCHANGED <<counter, grants, state, grant, token, resource>>
    /\ SightIf(holder # Nobody /\ left = 1, "a lease that ran out")

Next ==
    \/ \E c \in Clients :
          Ask(c) \/ Grant(c) \/ Hear(c) \/ Renew(c) \/ Write(c) \/ Close(c)
    \/ \E w \in writes : Arrive(w)
    \/ FenceForgets
    \/ Tick

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* P1: the leases of two clients are never valid at once. *)
OneHolder ==
    \A c, d \in Clients : valid[c] > 0 /\ valid[d] > 0 => c = d

(* P3: no write of an earlier holder after one of a later holder. *)
NoStaleWrite == ~stale

Symmetry == Permutations(Clients)
=============================================================================

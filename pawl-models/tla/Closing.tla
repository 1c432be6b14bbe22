------------------------------ MODULE Closing ------------------------------
(***************************************************************************)
(* A client closes while bodies run under its leases.                      *)
(* Classes: io.pawl.engine.Lifecycle, io.pawl.engine.LocalQueue.           *)
(*                                                                         *)
(* What is modelled.  Clients share one lock, and each runs a body under   *)
(* it at a time.  One client closes: it refuses new requests, takes its    *)
(* waiting claim out of the queue, goes on renewing what is held until     *)
(* the body ends or the grace is over, gives back what ended, and leaves   *)
(* the rest to run out.  A body that finds its lease over stops.  A        *)
(* withdrawal is under way for any time, or is given up when the client    *)
(* has ended; the grant that answers a question is under way for any time. *)
(*                                                                         *)
(* Time is what is left of leases and of the grace, in ticks.              *)
(*                                                                         *)
(* What is left out.  A body that does not heed its deadline: for that     *)
(* there is the fence.  Late attempts (see Quorum), lost bells (HandOff).  *)
(***************************************************************************)
EXTENDS Naturals, Sequences, Sights

CONSTANTS
    Clients,
    Closer, \* the client that closes
    Nobody,
    Lease,  \* in ticks
    Grace,  \* in ticks
    Mutant  \* "none", or the name of a mistake

VARIABLES
    holder, \* store: whose claim is held
    left,   \* store: what is left of its lease
    queue,  \* store: the claims that wait, in order
    state,  \* client: idle, waiting, running (a body), leaving (a withdrawal is under way)
    answer, \* client: what a grant under way to it is worth; 0: none, or too late
    valid,  \* client: how long its lease claims to be valid
    life,   \* the closer: open, closing, closed
    grace,  \* the closer: what is left of the grace
    late    \* whether a body of the closer began after the close

store == <<holder, left, queue>>
vars == <<store, state, answer, valid, life, grace, late>>

Less(n) == IF n > 0 THEN n - 1 ELSE 0
Stands(c) == \E i \in 1..Len(queue) : queue[i] = c
IsOpen(c) == c # Closer \/ life = "open"
HasEnded(c) == c = Closer /\ life = "closed"

Init ==
    /\ holder = Nobody /\ left = 0 /\ queue = <<>>
    /\ state = [c \in Clients |-> "idle"]
    /\ answer = [c \in Clients |-> 0]
    /\ valid = [c \in Clients |-> 0]
    /\ life = "open" /\ grace = 0 /\ late = FALSE

(* The store without the claim of c: if c held, the head of the queue holds now. *)
Drop(c) ==
    IF holder = c
    THEN /\ holder' = IF queue = <<>> THEN Nobody ELSE Head(queue)
         /\ left' = IF queue = <<>> THEN 0 ELSE Lease
         /\ queue' = IF queue = <<>> THEN queue ELSE Tail(queue)
    ELSE /\ queue' = SelectSeq(queue, LAMBDA d : d # c)
         /\ UNCHANGED <<holder, left>>

-----------------------------------------------------------------------------
(* A client and its bodies. *)

Ask(c) ==
    /\ state[c] = "idle" /\ IsOpen(c)
    /\ holder # c /\ ~Stands(c)
    /\ state' = [state EXCEPT ![c] = "waiting"]
    /\ IF holder = Nobody
       THEN holder' = c /\ left' = Lease /\ answer' = [answer EXCEPT ![c] = Lease]
            /\ UNCHANGED queue
       ELSE queue' = Append(queue, c) /\ UNCHANGED <<holder, left, answer>>
    /\ UNCHANGED <<valid, life, grace, late>>

AskAgain(c) ==
    /\ state[c] = "waiting"
    /\ IF holder = c
       THEN left' = Lease /\ answer' = [answer EXCEPT ![c] = Lease] /\ UNCHANGED state
       ELSE ~Stands(c) /\ state' = [state EXCEPT ![c] = "idle"] /\ UNCHANGED <<left, answer>>
    /\ UNCHANGED <<holder, queue, valid, life, grace, late>>

Begin(c) ==
    /\ answer[c] > 0
    /\ state[c] = "waiting"
    /\ state' = [state EXCEPT ![c] = "running"]
    /\ valid' = [valid EXCEPT ![c] = answer[c]]
    /\ answer' = [answer EXCEPT ![c] = 0]
    /\ late' = (late \/ ~IsOpen(c))
    /\ UNCHANGED <<store, life, grace>>
    /\ SightIf(life = "closed", "a body of another after the close")

Renew(c) ==
    /\ state[c] = "running" /\ holder = c
    /\ ~HasEnded(c) \/ Mutant = "RenewsForEver"
    /\ left' = Lease
    /\ valid' = [valid EXCEPT ![c] = Lease]
    /\ UNCHANGED <<holder, queue, state, answer, life, grace, late>>

EndBody(c) ==
    /\ state[c] = "running"
    /\ state' = [state EXCEPT ![c] = IF HasEnded(c) THEN "idle" ELSE "leaving"]
    /\ valid' = [valid EXCEPT ![c] = 0]
    /\ UNCHANGED <<store, answer, life, grace, late>>
    /\ SightIf(c = Closer /\ life = "closing", "a body that ended within the grace")

Withdraw(c) ==
    /\ state[c] = "leaving"
    /\ Drop(c)
    /\ state' = [state EXCEPT ![c] = "idle"]
    /\ UNCHANGED <<answer, valid, life, grace, late>>

-----------------------------------------------------------------------------
(* The close. *)

Close ==
    /\ life = "open"
    /\ life' = "closing"
    /\ grace' = Grace
    /\ IF state[Closer] = "waiting" /\ Mutant # "ForgetsItsWaiters"
       THEN /\ state' = [state EXCEPT ![Closer] = "leaving"]
            /\ answer' = [answer EXCEPT ![Closer] = 0]
       ELSE UNCHANGED <<state, answer>>
    /\ IF Mutant = "WithdrawsAtOnce" THEN Drop(Closer) ELSE UNCHANGED store
    /\ UNCHANGED <<valid, late>>
    /\ SightIf(state[Closer] = "running", "a close while a body runs")
    /\ SightIf(answer[Closer] > 0, "a grant that meets a close")

(* The end: what was not given back by now is left to run out, the withdrawals under way too. *)
EndClose ==
    /\ life = "closing"
    /\ state[Closer] = "idle" \/ grace = 0
    /\ life' = "closed"
    /\ state' = [state EXCEPT ![Closer] = IF @ = "leaving" THEN "idle" ELSE @]
    /\ IF Mutant = "WithdrawsAfterTheGrace" THEN Drop(Closer) ELSE UNCHANGED store
    /\ UNCHANGED <<answer, valid, grace, late>>
    /\ SightIf(state[Closer] = "running", "a body that outlasts the grace")

-----------------------------------------------------------------------------

Tick ==
    LET over == {c \in Clients : state[c] = "running" /\ valid[c] = 1}
    IN  /\ state' = [c \in Clients |->
              IF c \notin over THEN state[c] ELSE IF HasEnded(c) THEN "idle" ELSE "leaving"]
        /\ valid' = [c \in Clients |-> Less(valid[c])]
        /\ answer' = [c \in Clients |-> Less(answer[c])]
        /\ grace' = Less(grace)
        /\ IF holder # Nobody /\ left = 1
           THEN Drop(holder)
           ELSE left' = Less(left) /\ UNCHANGED <<holder, queue>>
        /\ UNCHANGED <<life, late>>
        /\ SightIf(Closer \in over /\ life = "closed", "a body that stopped at its deadline")

(* A place in the queue of which nobody speaks any more runs out. *)
RunOut(c) ==
    /\ Stands(c) /\ state[c] # "waiting"
    /\ Drop(c)
    /\ UNCHANGED <<state, answer, valid, life, grace, late>>

Next ==
    \/ \E c \in Clients :
          Ask(c) \/ AskAgain(c) \/ Begin(c) \/ Renew(c) \/ EndBody(c) \/ Withdraw(c) \/ RunOut(c)
    \/ Close
    \/ EndClose
    \/ Tick

Spec ==
    /\ Init /\ [][Next]_vars
    /\ WF_vars(Tick) /\ WF_vars(EndClose)
    /\ \A c \in Clients : WF_vars(RunOut(c))

-----------------------------------------------------------------------------
(* P8, P1: nobody is let in beside a body that began under a valid lease and heeds its end. *)
NobodyBeside ==
    \A c, d \in Clients : state[c] = "running" /\ state[d] = "running" => c = d

(* A client that closes begins no body. *)
BeginsNoMore == ~late

(* The close ends, and the store is rid of the client. *)
NothingLeft ==
    life = "closing" ~> life = "closed" /\ holder # Closer /\ ~Stands(Closer)
=============================================================================

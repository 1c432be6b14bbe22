------------------------------ MODULE HandOff ------------------------------
(***************************************************************************)
(* Waiters in the store's queue, and bells that may all be lost.           *)
(* Classes: io.pawl.spi.rule.GrantRule, io.pawl.spi.Bell,                  *)
(* io.pawl.engine.LiveClaim.                                               *)
(*                                                                         *)
(* What is modelled.  A claim that asks is granted when the lock is free   *)
(* and nobody waits, else it stands in the queue.  The end of a hold       *)
(* grants the lock to the head of the queue and rings its bell; the bell   *)
(* arrives at any later time, or never.  A waiter that hears its bell, or  *)
(* asks and is told that it holds, is in.  Somebody who is in leaves some  *)
(* day, and may come again.  A client may crash while it waits or holds;   *)
(* the lease of its claim then runs out.                                   *)
(*                                                                         *)
(* Fairness.  A live waiter asks again from time to time, whoever is in    *)
(* leaves, the lease of a dead client runs out.  Nothing is assumed of     *)
(* bells, nor that anybody comes or crashes.                               *)
(*                                                                         *)
(* What is left out.  The lengths of times: a live client asks and renews  *)
(* before its lease is over (a third of it, or 2 s), so that only the      *)
(* claims of dead ones run out.  A question and its answer are one step:   *)
(* a lost answer is a question that was not asked.                         *)
(***************************************************************************)
EXTENDS Naturals, Sequences, Sights

CONSTANTS
    Clients,
    Nobody,
    MaxCrashes, \* how many clients die at most
    Mutant      \* "none", or the name of a mistake

VARIABLES
    holder,  \* store: whose claim is held
    queue,   \* store: the claims that wait, in order
    bells,   \* whose bells are under way
    state,   \* client: away, waiting, in, dead
    crashes  \* how many have died

vars == <<holder, queue, bells, state, crashes>>

Init ==
    /\ holder = Nobody
    /\ queue = <<>>
    /\ bells = {}
    /\ state = [c \in Clients |-> "away"]
    /\ crashes = 0

Stands(c) == \E i \in 1..Len(queue) : queue[i] = c

(* The hold is over: the head of the queue holds, and its bell rings. *)
Pass(others) ==
    IF queue = <<>>
    THEN holder' = Nobody /\ bells' = others /\ UNCHANGED queue
    ELSE /\ holder' = Head(queue)
         /\ queue' = Tail(queue)
         /\ bells' = others \cup {Head(queue)}

(* A bell is a claim's, and a claim is used once: a client that comes again has another. *)
Without(c) == IF Mutant = "TakesAnOldBell" THEN bells ELSE bells \ {c}

-----------------------------------------------------------------------------

Come(c) ==
    /\ state[c] = "away"
    /\ IF holder = Nobody /\ queue = <<>>
       THEN holder' = c /\ state' = [state EXCEPT ![c] = "in"] /\ UNCHANGED queue
       ELSE queue' = Append(queue, c) /\ state' = [state EXCEPT ![c] = "waiting"]
            /\ UNCHANGED holder
    /\ UNCHANGED <<bells, crashes>>

HearBell(c) ==
    /\ c \in bells
    /\ bells' = bells \ {c}
    /\ state' = IF state[c] = "waiting" THEN [state EXCEPT ![c] = "in"] ELSE state
    /\ UNCHANGED <<holder, queue, crashes>>
    /\ SightIf(state[c] = "waiting", "a bell that was heard")

LoseBell(c) ==
    /\ c \in bells
    /\ bells' = bells \ {c}
    /\ UNCHANGED <<holder, queue, state, crashes>>
    /\ SightIf(state[c] = "waiting", "a bell that was lost")

(* The waiter asks how its claim stands. *)
AskAgain(c) ==
    /\ Mutant # "DoesNotAskAgain"
    /\ state[c] = "waiting"
    /\ holder = c
    /\ state' = [state EXCEPT ![c] = "in"]
    /\ bells' = bells \ {c}
    /\ UNCHANGED <<holder, queue, crashes>>
    /\ Sight("a question that found the lock held")

Leave(c) ==
    /\ state[c] = "in"
    /\ state' = [state EXCEPT ![c] = "away"]
    /\ IF Mutant = "GrantsNobody"
       THEN holder' = Nobody /\ UNCHANGED <<queue, bells>>
       ELSE Pass(bells)
    /\ UNCHANGED crashes
    /\ SightIf(queue # <<>>, "a hand-off")

(* Patience is over: the claim leaves the queue, or gives back what it has not heard of. *)
GiveUp(c) ==
    /\ state[c] = "waiting"
    /\ state' = [state EXCEPT ![c] = "away"]
    /\ IF holder = c
       THEN Pass(Without(c))
       ELSE queue' = SelectSeq(queue, LAMBDA d : d # c) /\ UNCHANGED <<holder, bells>>
    /\ UNCHANGED crashes

Crash(c) ==
    /\ crashes < MaxCrashes
    /\ state[c] \in {"waiting", "in"}
    /\ state' = [state EXCEPT ![c] = "dead"]
    /\ crashes' = crashes + 1
    /\ UNCHANGED <<holder, queue, bells>>

RunOut(c) ==
    /\ Mutant # "KeepsTheDead"
    /\ state[c] = "dead"
    /\ IF holder = c
       THEN Pass(Without(c))
       ELSE /\ Stands(c)
            /\ queue' = SelectSeq(queue, LAMBDA d : d # c)
            /\ UNCHANGED <<holder, bells>>
    /\ UNCHANGED <<state, crashes>>
    /\ SightIf(holder = c, "a hold of a dead client that ran out")
    /\ SightIf(Stands(c), "a place of a dead client that ran out")

Next == \E c \in Clients :
    Come(c) \/ HearBell(c) \/ LoseBell(c) \/ AskAgain(c) \/ Leave(c) \/ GiveUp(c)
        \/ Crash(c) \/ RunOut(c)

Fairness == \A c \in Clients :
    WF_vars(AskAgain(c)) /\ WF_vars(Leave(c)) /\ WF_vars(RunOut(c))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Only the holder of the store's choice is in. *)
OneIn == \A c \in Clients : state[c] = "in" => holder = c

(* A free lock has no waiter beside it. *)
NoWaiterBesideAFreeLock == holder = Nobody => queue = <<>>

(* P6: whoever waits and lives gets in, or gives up. *)
SomeoneGetsIn == \A c \in Clients : state[c] = "waiting" ~> state[c] # "waiting"
=============================================================================

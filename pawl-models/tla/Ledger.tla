------------------------------- MODULE Ledger -------------------------------
(***************************************************************************)
(* A counter whose truth enters every change under its id, a gate that may *)
(* refuse takes early, and clients that repeat what was not answered.      *)
(* Classes: io.pawl.spi.rule.CounterRule and CounterState,                 *)
(* io.pawl.composite.GateCounters.                                         *)
(*                                                                         *)
(* What is modelled.  Each id stands for one change: a take of 1, or a     *)
(* restock of 1.  Copies of a request are under way for any time; the      *)
(* truth serves each in one transaction, and its answer is heard or lost.  *)
(* An unknown answer is followed by another copy under the same id.  What  *)
(* callers are told is known as soon as the truth has said it.  An id of the client's own is sent by that client alone, which      *)
(* hears the answer to its latest copy alone; the refusal of the first is  *)
(* not recorded.  The id of a caller may be sent by anybody at any time,   *)
(* after an answer too.  A question closes an id that *)
(* the ledger does not have.  The ledger may forget what was first used    *)
(* before a time, and refuses from then on what is as old.  The gate may   *)
(* say "sold out" at any moment, however wrongly, but only of an id of the *)
(* client's own that was never sent.                                       *)
(*                                                                         *)
(* A crash between any two steps, of the client, the gate or the truth, is *)
(* a request or an answer that never arrives.  A client that has crashed   *)
(* sends its own ids no more.                                              *)
(*                                                                         *)
(* What is left out.  Reservations, baskets, compare and set, the gate's   *)
(* copy of the value (its answer may be anything).                         *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sights

CONSTANTS
    Own,      \* ids that a client has made for itself
    Callers,  \* ids that callers have given
    Restocks, \* the ids that add 1; all others take 1
    Initial,  \* the value at the beginning; the floor is 0
    MaxNow,   \* the last moment of the truth's clock
    MaxTries, \* how many copies of a request are sent at most
    Mutant    \* "none", or the name of a mistake

VARIABLES
    value,     \* truth: what the counter has
    ledger,    \* truth: for each id its status, and when it counts as first used
    keptFrom,  \* truth: what was first used before is refused if it is not known
    forgotten, \* truth: the sum of the changes whose entries were forgotten
    now,       \* the clock
    issued,    \* id: when it was first used
    tries,     \* id: how many copies were sent
    flying,    \* id: the copies under way
    alive,     \* id: whether the client that made it still asks
    heard,     \* id: what was told, ok or refused or both
    applied    \* id: how many times it has changed the value

truth == <<value, ledger, keptFrom, forgotten, applied>>
client == <<issued, tries, alive>>
vars == <<truth, now, flying, client, heard>>

Ids == Own \cup Callers
Amount(i) == IF i \in Restocks THEN 1 ELSE -1
Unknown == [status |-> "unknown", issued |-> 0]
Max(a, b) == IF a > b THEN a ELSE b

RECURSIVE Sum(_, _)
Sum(set, f) ==
    IF set = {} THEN 0 ELSE LET i == CHOOSE i \in set : TRUE IN f[i] + Sum(set \ {i}, f)

Init ==
    /\ value = Initial
    /\ ledger = [i \in Ids |-> Unknown]
    /\ keptFrom = 0
    /\ forgotten = 0
    /\ now = 0
    /\ issued = [i \in Ids |-> 0]
    /\ tries = [i \in Ids |-> 0]
    /\ flying = [i \in Ids |-> {}]
    /\ alive = [i \in Ids |-> TRUE]
    /\ heard = [i \in Ids |-> {}]
    /\ applied = [i \in Ids |-> 0]

-----------------------------------------------------------------------------
(* The client. *)

(* A restock is sent once and not asked about; it is there to be in the way of takes. *)
Send(i) ==
    /\ tries[i] < IF i \in Restocks THEN 1 ELSE MaxTries
    /\ i \in Own => alive[i] /\ heard[i] = {}
    /\ tries' = [tries EXCEPT ![i] = @ + 1]
    /\ flying' = [flying EXCEPT ![i] = @ \cup {tries'[i]}]
    /\ issued' = [issued EXCEPT ![i] = IF tries[i] = 0 THEN now ELSE @]
    /\ UNCHANGED <<truth, now, alive, heard>>

(* The answer to a copy arrives, or is lost. *)
Hears(i, copy, answer) ==
    LET awaited ==
            \/ i \in Callers
            \/ alive[i] /\ (copy = tries[i] \/ Mutant = "HearsEarlierCopies")
        told == CASE answer # "too old" -> {answer}
                  [] Mutant = "TakesTooOldForRefused" -> {"refused"}
                  [] OTHER -> {}
    IN  \/ awaited /\ heard' = [heard EXCEPT ![i] = @ \cup told]
        \/ i \in Own /\ UNCHANGED heard

Crash(i) ==
    /\ i \in Own
    /\ alive[i] /\ tries[i] > 0 /\ heard[i] = {}
    /\ alive' = [alive EXCEPT ![i] = FALSE]
    /\ UNCHANGED <<truth, now, flying, issued, tries, heard>>

-----------------------------------------------------------------------------
(* The gate. *)

RefuseEarly(i) ==
    /\ i \notin Restocks
    /\ alive[i] /\ heard[i] = {}
    /\ \/ i \in Own /\ tries[i] = 0
       \/ Mutant = "GateRefusesWhatWasSent"
       \/ Mutant = "GateRefusesIdsOfCallers" /\ i \in Callers
    /\ heard' = [heard EXCEPT ![i] = {"refused"}]
    /\ UNCHANGED <<truth, now, flying, client>>
    /\ Sight("an early refusal")

GateSells(i) ==
    /\ Mutant = "GateSells"
    /\ i \notin Restocks /\ heard[i] = {}
    /\ heard' = [heard EXCEPT ![i] = {"ok"}]
    /\ UNCHANGED <<truth, now, flying, client>>

GateWrites ==
    /\ Mutant = "GateWritesTheTruth"
    /\ value' = Initial
    /\ UNCHANGED <<ledger, keptFrom, forgotten, applied, now, flying, client, heard>>

-----------------------------------------------------------------------------
(* The truth. *)

Dated(i) == IF Mutant = "DatesARepetitionAnew" THEN now ELSE issued[i]
IsTooOld(i) == Dated(i) < keptFrom
Records(i, copy) == (i \in Callers \/ copy > 1) /\ Mutant # "RecordsNoRefusal"
Enter(i, status, at) ==
    ledger' = [ledger EXCEPT ![i] = [status |-> status, issued |-> at]]

Serve(i, copy) ==
    LET known == ledger[i].status # "unknown" /\ Mutant # "AppliesWithoutLooking"
        possible == value + Amount(i) >= 0 \/ Mutant = "ChecksNoFloor"
    IN  /\ copy \in flying[i]
        /\ flying' = [flying EXCEPT ![i] = @ \ {copy}]
        /\ CASE known ->
                  /\ Hears(i, copy, IF ledger[i].status = "applied" THEN "ok" ELSE "refused")
                  /\ UNCHANGED <<value, ledger, applied>>
             [] ~known /\ IsTooOld(i) ->
                  /\ Hears(i, copy, "too old")
                  /\ UNCHANGED <<value, ledger, applied>>
             [] ~known /\ ~IsTooOld(i) /\ possible ->
                  /\ Hears(i, copy, "ok")
                  /\ value' = value + Amount(i)
                  /\ applied' = [applied EXCEPT ![i] = @ + 1]
                  /\ IF Mutant = "EntersInASecondTransaction"
                     THEN UNCHANGED ledger
                     ELSE Enter(i, "applied", Dated(i))
             [] OTHER ->
                  /\ Hears(i, copy, "refused")
                  /\ IF Records(i, copy) THEN Enter(i, "refused", Dated(i)) ELSE UNCHANGED ledger
                  /\ UNCHANGED <<value, applied>>
        /\ UNCHANGED <<keptFrom, forgotten, now, client>>
        /\ SightIf(known /\ ledger[i].status = "applied", "a repetition that was told ok")
        /\ SightIf(known /\ ledger[i].status = "never", "a copy that came after the question")
        /\ SightIf(~known /\ IsTooOld(i), "a repetition that was too old")
        /\ SightIf(~known /\ ~possible, "a refusal")
        /\ SightIf(~known /\ possible /\ value = 0, "a restock of what was sold out")

(* What became of an id? One that is not known is closed, as of now. *)
Question(i) ==
    /\ tries[i] > 0 /\ alive[i] /\ i \notin Restocks
    /\ CASE ledger[i].status = "applied" -> Hears(i, tries[i], "ok") /\ UNCHANGED ledger
         [] ledger[i].status \in {"refused", "never"} -> Hears(i, tries[i], "refused") /\ UNCHANGED ledger
         [] ledger[i].status = "unknown" /\ IsTooOld(i) ->
               Hears(i, tries[i], "too old") /\ UNCHANGED ledger
         [] OTHER ->
               /\ Hears(i, tries[i], "refused")
               /\ IF Mutant = "ClosesNothing"
                  THEN UNCHANGED ledger
                  ELSE Enter(i, "never", Max(Dated(i), now))
    /\ UNCHANGED <<value, keptFrom, forgotten, applied, now, flying, client>>

Prune(before) ==
    LET old == {i \in Ids : ledger[i].status # "unknown" /\ ledger[i].issued < before}
        changes == [i \in old |-> IF ledger[i].status = "applied" THEN Amount(i) ELSE 0]
    IN  /\ before <= now
        /\ before > keptFrom
        /\ keptFrom' = IF Mutant = "ForgetsThatItForgot" THEN keptFrom ELSE before
        /\ ledger' = [i \in Ids |-> IF i \in old THEN Unknown ELSE ledger[i]]
        /\ forgotten' = forgotten + Sum(old, changes)
        /\ UNCHANGED <<value, applied, now, flying, client, heard>>
        /\ SightIf(old # {}, "an id that was forgotten")

Clock == now < MaxNow /\ now' = now + 1 /\ UNCHANGED <<truth, flying, client, heard>>

Next ==
    \/ \E i \in Ids :
          \/ Send(i) \/ Crash(i) \/ RefuseEarly(i) \/ GateSells(i) \/ Question(i)
          \/ \E copy \in flying[i] : Serve(i, copy)
    \/ \E before \in 1..MaxNow : Prune(before)
    \/ GateWrites
    \/ Clock

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* P7, one by one. *)

WithinBounds == value >= 0

AppliedAtMostOnce == \A i \in Ids : applied[i] <= 1

OkMeansOnce == \A i \in Ids : "ok" \in heard[i] => applied[i] = 1

RefusedMeansNever == \A i \in Ids : "refused" \in heard[i] => applied[i] = 0

Conservation ==
    value = Initial + Sum(Ids, [i \in Ids |-> applied[i] * Amount(i)])

(* The value is the sum of the ledger and of what it has forgotten. *)
LedgerBalances ==
    LET entered == [i \in Ids |-> IF ledger[i].status = "applied" THEN Amount(i) ELSE 0]
    IN  value = Initial + forgotten + Sum(Ids, entered)
=============================================================================

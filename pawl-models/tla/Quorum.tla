------------------------------- MODULE Quorum -------------------------------
(***************************************************************************)
(* An exclusive lock on a majority of independent stores, the nodes.       *)
(* Class: io.pawl.quorum.QuorumStore.                                      *)
(*                                                                         *)
(* What is modelled.  A claim is one round of one client: it asks all      *)
(* nodes at once, and is told as granted when a majority holds it.  Its    *)
(* token is the largest that this majority gave it; before the grant is    *)
(* told, a majority that holds the claim has a counter of at least that.   *)
(* A held claim asks again, which renews it where it is held and takes it  *)
(* back where it is not.  It is valid while a majority covers it: a node   *)
(* covers it for one lease from the moment at which the answered request   *)
(* was sent, and keeps it for one lease from the moment at which it read   *)
(* the request.  A claim that ends is withdrawn everywhere; a withdrawal   *)
(* that overtakes an attempt is remembered, and the attempt refused.  A    *)
(* node may restart empty: it forgets holder and counter.  It votes again  *)
(* after the longest lease, and once its counter was raised to the largest *)
(* of a majority of the others, each asked after the longest lease is over.*)
(* (Where too many forgot for such a majority, the code goes on by clocks.)*)
(*                                                                         *)
(* Time is what is left of each lease, in ticks; all clocks tick together. *)
(* An attempt and a withdrawal are under way for any time: one that is     *)
(* lost never arrives.  A client that crashes or pauses does nothing; a    *)
(* node that is dead reads nothing.  An answer is heard at once or lost;   *)
(* with SlowAnswers it is under way for any time.                          *)
(*                                                                         *)
(* What is left out.  Drift of clock rates (Validity takes it off the      *)
(* lease), the queue and bells, kinds other than an exclusive lock.  "Busy"*)
(* and "gone" are requests that never arrive: a client that knows less     *)
(* trusts a claim for longer, so nothing unsafe is hidden.  Renewals and   *)
(* raises are read when they are sent, and answered: otherwise they would  *)
(* only prolong or raise.  A claim gives up when the time of its round is  *)
(* over.                                                                   *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, Sights

CONSTANTS
    Nodes,        \* the independent stores
    Claims,       \* the rounds of clients, each with an id of its own
    Nobody,       \* holds a node that nobody holds
    Lease,        \* in ticks
    Ahead,        \* how many nodes begin with a larger counter than the others
    MaxToken,     \* states with a larger counter are not explored further
    MaxRestarts,  \* how many restarts happen at most
    SlowAnswers,  \* whether answers to attempts are under way
    Mutant        \* "none", or the name of a mistake

VARIABLES
    holder,   \* node: the claim that it holds, or Nobody
    left,     \* node: what is left of that claim's lease
    counter,  \* node: the last token that it gave, or was raised to
    out,      \* node: 0 when it votes; else 1 + the ticks until it may again
    informed, \* node that is out: those that have said to it what they granted
    learned,  \* node that is out: the largest of that
    restarts, \* how many restarts there were
    phase,    \* claim: idle, asking, raising, held, ended
    round,    \* claim: what is left of a lease counted from its attempts
    asked,    \* claim: the nodes to which its attempt is under way
    answers,  \* claim: the grants under way to it, each of a node with a token
    cover,    \* claim and node: how long the claim may count on the node
    token,    \* claim: the token that it will have
    raised,   \* claim: the nodes known to have that token or a larger one
    leaving,  \* claim: the nodes to which its withdrawal is under way
    last,     \* the largest token that was told
    rising    \* whether each token told was larger than all before

rejoinVars == <<informed, learned>>
nodeVars == <<holder, left, counter, out, restarts, rejoinVars>>
heardVars == <<phase, cover, token, raised>>
wireVars == <<asked, answers, leaving>>
vars == <<nodeVars, heardVars, wireVars, round, last, rising>>

Majority == Cardinality(Nodes) \div 2 + 1
IsMajority(set) == Cardinality(set) >= Majority
Max(a, b) == IF a > b THEN a ELSE b
Less(n) == IF n > 0 THEN n - 1 ELSE 0

Covered(covers) == IsMajority({n \in Nodes : covers[n] > 0})
Holds(c) == phase[c] = "held" /\ Covered(cover[c])
Votes(n) == out[n] = 0
Takes(n, c) == Votes(n) /\ holder[n] \in {Nobody, c}

Init ==
    /\ holder = [n \in Nodes |-> Nobody]
    /\ left = [n \in Nodes |-> 0]
    /\ \E ahead \in SUBSET Nodes :
          /\ Cardinality(ahead) = Ahead
          /\ counter = [n \in Nodes |-> IF n \in ahead THEN 1 ELSE 0]
    /\ out = [n \in Nodes |-> 0]
    /\ informed = [n \in Nodes |-> {}]
    /\ learned = [n \in Nodes |-> 0]
    /\ restarts = 0
    /\ phase = [c \in Claims |-> "idle"]
    /\ round = [c \in Claims |-> 0]
    /\ asked = [c \in Claims |-> {}]
    /\ answers = [c \in Claims |-> {}]
    /\ cover = [c \in Claims |-> [n \in Nodes |-> 0]]
    /\ token = [c \in Claims |-> 0]
    /\ raised = [c \in Claims |-> {}]
    /\ leaving = [c \in Claims |-> {}]
    /\ last = 0
    /\ rising = TRUE

-----------------------------------------------------------------------------
(* The round: attempts, their answers, the raise, the grant. *)

Ask(c) ==
    /\ phase[c] = "idle"
    /\ phase' = [phase EXCEPT ![c] = "asking"]
    /\ round' = [round EXCEPT ![c] = Lease]
    /\ asked' = [asked EXCEPT ![c] = Nodes]
    /\ UNCHANGED <<nodeVars, cover, token, raised, answers, leaving, last, rising>>

(* A node's yes arrives. The last one of a majority fixes the token. *)
Hear(c, n, t) ==
    LET ticks == IF Mutant = "CountsFromTheAnswer" THEN Lease ELSE round[c]
        covers == [cover[c] EXCEPT ![n] = Max(@, ticks)]
        asking == phase[c] = "asking"
    IN  /\ cover' = [cover EXCEPT ![c] = covers]
        /\ token' = [token EXCEPT ![c] = IF asking THEN Max(@, t) ELSE @]
        /\ raised' = [raised EXCEPT ![c] =
              CASE asking /\ t > token[c] -> {n}
                [] phase[c] \in {"asking", "raising"} /\ t >= token[c] -> @ \cup {n}
                [] OTHER -> @]
        /\ phase' = [phase EXCEPT ![c] = IF asking /\ Covered(covers) THEN "raising" ELSE @]

(* A node reads an attempt and takes it: its answer is lost, is heard, or is under way. *)
ReadAttempt(c, n) ==
    LET useful == round[c] > 0
    IN  /\ n \in asked[c]
        /\ Takes(n, c)
        /\ asked' = [asked EXCEPT ![c] = @ \ {n}]
        /\ holder' = [holder EXCEPT ![n] = c]
        /\ left' = [left EXCEPT ![n] = Lease]
        /\ counter' = [counter EXCEPT ![n] = IF holder[n] = Nobody THEN @ + 1 ELSE @]
        /\ \/ UNCHANGED <<heardVars, answers>>
           \/ useful /\ ~SlowAnswers /\ Hear(c, n, counter'[n]) /\ UNCHANGED answers
           \/ /\ useful /\ SlowAnswers
              /\ answers' = [answers EXCEPT ![c] = @ \cup {<<n, counter'[n]>>}]
              /\ UNCHANGED heardVars
        /\ UNCHANGED <<out, restarts, rejoinVars, round, leaving, last, rising>>
        /\ SightIf(phase[c] = "ended", "a late attempt")

HearLater(c, n, t) ==
    /\ <<n, t>> \in answers[c]
    /\ answers' = [answers EXCEPT ![c] = @ \ {<<n, t>>}]
    /\ Hear(c, n, t)
    /\ UNCHANGED <<nodeVars, round, asked, leaving, last, rising>>

(* Only where the claim is held: what the node grants later is then larger. *)
Raise(c, n) ==
    /\ phase[c] = "raising"
    /\ ~IsMajority(raised[c])
    /\ n \notin raised[c]
    /\ Votes(n)
    /\ holder[n] = c \/ Mutant = "RaisesWhereItHoldsNothing"
    /\ counter' = [counter EXCEPT ![n] = Max(@, token[c])]
    /\ raised' = [raised EXCEPT ![c] = @ \cup {n}]
    /\ UNCHANGED <<holder, left, out, restarts, rejoinVars, phase, round, cover, token, wireVars, last, rising>>
    /\ SightIf(counter[n] < token[c], "a raise")

Tell(c) ==
    /\ phase[c] = "raising"
    /\ Covered(cover[c])
    /\ IsMajority(raised[c]) \/ Mutant = "DoesNotRaise"
    /\ phase' = [phase EXCEPT ![c] = "held"]
    /\ last' = Max(last, token[c])
    /\ rising' = (rising /\ token[c] > last)
    /\ token' = [token EXCEPT ![c] = 0]
    /\ raised' = [raised EXCEPT ![c] = {}]
    /\ UNCHANGED <<nodeVars, cover, wireVars, round>>
    /\ SightIf(last > 0, "a grant after a grant")
    /\ SightIf(last > 0 /\ restarts > 0, "a grant after a restart")
    /\ SightIf(\E n \in Nodes : cover[c][n] = 0, "a grant by some of the nodes")

-----------------------------------------------------------------------------
(* A held claim, and its end. *)

(* Renews it at a node that holds it, and takes it back at one that does not. *)
AskAgain(c, n) ==
    LET heard == IF Mutant = "CountsAnErodedNode"
                 THEN [m \in Nodes |-> IF cover[c][m] > 0 \/ m = n THEN Lease ELSE 0]
                 ELSE [cover[c] EXCEPT ![n] = Lease]
    IN  /\ phase[c] = "held"
        /\ Takes(n, c)
        /\ holder' = [holder EXCEPT ![n] = c]
        /\ left' = [left EXCEPT ![n] = Lease]
        /\ counter' = [counter EXCEPT ![n] = IF holder[n] = Nobody THEN @ + 1 ELSE @]
        /\ cover' = [cover EXCEPT ![c] = heard]
        /\ UNCHANGED <<out, restarts, rejoinVars, phase, token, raised, wireVars, round, last, rising>>
        /\ SightIf(holder[n] = c /\ cover[c][n] < Lease, "a renewal")
        /\ SightIf(holder[n] = Nobody, "a node taken back")

(* Claims released, lost or given up: withdrawn everywhere, whatever was answered. *)
Ends(ended, covers, rounds) ==
    /\ phase' = [c \in Claims |-> IF c \in ended THEN "ended" ELSE phase[c]]
    /\ cover' = [c \in Claims |-> IF c \in ended THEN [n \in Nodes |-> 0] ELSE covers[c]]
    /\ token' = [c \in Claims |-> IF c \in ended THEN 0 ELSE token[c]]
    /\ raised' = [c \in Claims |-> IF c \in ended THEN {} ELSE raised[c]]
    /\ round' = [c \in Claims |-> IF c \in ended THEN 0 ELSE rounds[c]]
    /\ answers' = [c \in Claims |->
          IF c \in ended \/ rounds[c] = 0 THEN {} ELSE answers[c]]
    /\ leaving' = [c \in Claims |->
          {n \in IF c \in ended THEN Nodes ELSE leaving[c] :
              holder'[n] = c \/ n \in asked[c]}]

Release(c) ==
    /\ phase[c] = "held"
    /\ UNCHANGED nodeVars
    /\ Ends({c}, cover, round)
    /\ UNCHANGED <<asked, last, rising>>

ReadWithdrawal(c, n) ==
    /\ n \in leaving[c]
    /\ leaving' = [leaving EXCEPT ![c] = @ \ {n}]
    /\ holder' = [holder EXCEPT ![n] = IF @ = c THEN Nobody ELSE @]
    /\ left' = [left EXCEPT ![n] = IF holder[n] = c THEN 0 ELSE @]
    /\ asked' = [asked EXCEPT ![c] = @ \ {n}]
    /\ UNCHANGED <<counter, out, restarts, rejoinVars, heardVars, answers, round, last, rising>>
    /\ SightIf(n \in asked[c], "a withdrawal that overtook an attempt")

UseAgain(c) ==
    /\ Mutant = "UsesAnIdTwice"
    /\ phase[c] = "ended"
    /\ phase' = [phase EXCEPT ![c] = "idle"]
    /\ UNCHANGED <<nodeVars, cover, token, raised, wireVars, round, last, rising>>

-----------------------------------------------------------------------------
(* A node that loses all. *)

Restart(n) ==
    /\ restarts < MaxRestarts
    /\ restarts' = restarts + 1
    /\ holder' = [holder EXCEPT ![n] = Nobody]
    /\ left' = [left EXCEPT ![n] = 0]
    /\ counter' = [counter EXCEPT ![n] = 0]
    /\ out' = [out EXCEPT ![n] = IF Mutant = "VotesAtOnce" THEN 1 ELSE Lease + 1]
    /\ informed' = [informed EXCEPT ![n] = {}]
    /\ learned' = [learned EXCEPT ![n] = 0]
    /\ UNCHANGED <<heardVars, wireVars, round, last, rising>>
    /\ SightIf(holder[n] # Nobody, "a restart of a node that held a claim")

(* The longest lease is over; another node, which votes, says what it has granted. *)
Learn(n, m) ==
    /\ out[n] = 1 \/ (Mutant = "LearnsTooEarly" /\ out[n] > 1)
    /\ m # n
    /\ m \notin informed[n]
    /\ Votes(m)
    /\ informed' = [informed EXCEPT ![n] = @ \cup {m}]
    /\ learned' = [learned EXCEPT ![n] = Max(@, counter[m])]
    /\ UNCHANGED <<holder, left, counter, out, restarts, heardVars, wireVars, round, last, rising>>

(* A majority of the others has said so: the node is raised, and votes. *)
Rejoin(n) ==
    /\ out[n] = 1
    /\ IsMajority(informed[n])
    /\ out' = [out EXCEPT ![n] = 0]
    /\ counter' = [counter EXCEPT ![n] =
          IF Mutant = "RejoinsWithoutARaise" THEN @ ELSE learned[n]]
    /\ informed' = [informed EXCEPT ![n] = {}]
    /\ learned' = [learned EXCEPT ![n] = 0]
    /\ UNCHANGED <<holder, left, restarts, heardVars, wireVars, round, last, rising>>
    /\ Sight("a node that rejoined")

-----------------------------------------------------------------------------
(* Time. A claim that a majority covers no more, or can cover no more, has ended. *)

Tick ==
    LET covers == [c \in Claims |-> [n \in Nodes |-> Less(cover[c][n])]]
        rounds == [c \in Claims |-> Less(round[c])]
        lost == {c \in Claims : phase[c] = "held" /\ ~Covered(covers[c])}
        vain == {c \in Claims : phase[c] \in {"asking", "raising"} /\ rounds[c] = 0}
    IN  /\ holder' = [n \in Nodes |-> IF left[n] <= 1 THEN Nobody ELSE holder[n]]
        /\ left' = [n \in Nodes |-> Less(left[n])]
        /\ out' = [n \in Nodes |-> IF out[n] > 1 THEN out[n] - 1 ELSE out[n]]
        /\ Ends(lost \cup vain, covers, rounds)
        /\ UNCHANGED <<counter, restarts, rejoinVars, asked, last, rising>>
        /\ SightIf(lost # {}, "a loss")

Next ==
    \/ Tick
    \/ \E c \in Claims : Ask(c) \/ Tell(c) \/ Release(c) \/ UseAgain(c)
    \/ \E c \in Claims, n \in Nodes :
          ReadAttempt(c, n) \/ Raise(c, n) \/ AskAgain(c, n) \/ ReadWithdrawal(c, n)
    \/ \E c \in Claims : \E answer \in answers[c] : HearLater(c, answer[1], answer[2])
    \/ \E n \in Nodes : Restart(n) \/ Rejoin(n) \/ \E m \in Nodes : Learn(n, m)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* P1: at most one claim is held and valid. *)
OneHolder == \A c, d \in Claims : Holds(c) /\ Holds(d) => c = d

(* P2: each token told is larger than all before, so each is unique. *)
TokensGrow == rising

(* When all claims have ended nothing more can happen to them. *)
Explored ==
    /\ \A n \in Nodes : counter[n] <= MaxToken
    /\ \E c \in Claims : phase[c] # "ended" \/ Mutant = "UsesAnIdTwice"
Symmetry == Permutations(Nodes) \cup Permutations(Claims)
=============================================================================

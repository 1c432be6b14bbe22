------------------------------- MODULE Sights -------------------------------
(***************************************************************************)
(* A model that explores nothing refutes nothing. An action of a model     *)
(* ends in Sight("what happened"): the first time that TLC takes the       *)
(* action, it prints the name, and the test looks for it. A sight is TRUE  *)
(* and part of no state.                                                   *)
(***************************************************************************)
EXTENDS TLC

ASSUME TLCSet(1, {})

Sight(what) ==
    IF what \in TLCGet(1)
    THEN TRUE
    ELSE TLCSet(1, TLCGet(1) \cup {what}) /\ PrintT(<<"seen", what>>)

SightIf(condition, what) == IF condition THEN Sight(what) ELSE TRUE
=============================================================================

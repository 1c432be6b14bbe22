package io.pawl.models;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** Waiters whose bells may all be lost: three clients, of which two may die. */
class HandOffModelTest extends ModelContract {

  HandOffModelTest() {
    super(
        List.of(Model.of("HandOff")),
        Set.of(
            "a hand-off",
            "a bell that was heard",
            "a bell that was lost",
            "a question that found the lock held",
            "a hold of a dead client that ran out",
            "a place of a dead client that ran out"),
        Map.of(
            "DoesNotAskAgain", "SomeoneGetsIn",
            "KeepsTheDead", "SomeoneGetsIn",
            "GrantsNobody", "NoWaiterBesideAFreeLock",
            "TakesAnOldBell", "OneIn"));
  }
}

package io.pawl.models;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** A pause between the look at a lease and the write: two clients, three grants, two ticks. */
class FencingModelTest extends ModelContract {

  FencingModelTest() {
    super(
        List.of(Model.of("Fencing")),
        Set.of(
            "a lease that ran out",
            "a grant heard of too late",
            "a write of a later holder",
            "a stale write that was refused"),
        Map.of(
            "HasNoFence", "NoStaleWrite",
            "TokensStartAnew", "NoStaleWrite",
            "ForgetsTheLargestToken", "NoStaleWrite",
            "CountsFromTheAnswer", "OneHolder"));
  }
}

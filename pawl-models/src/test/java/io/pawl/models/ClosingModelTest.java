package io.pawl.models;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** A client that closes while bodies run: two clients, a lease of two ticks, a grace of one. */
class ClosingModelTest extends ModelContract {

  ClosingModelTest() {
    super(
        List.of(Model.of("Closing")),
        Set.of(
            "a close while a body runs",
            "a grant that meets a close",
            "a body that ended within the grace",
            "a body that outlasts the grace",
            "a body that stopped at its deadline",
            "a body of another after the close"),
        Map.of(
            "WithdrawsAtOnce", "NobodyBeside",
            "WithdrawsAfterTheGrace", "NobodyBeside",
            "ForgetsItsWaiters", "BeginsNoMore",
            "RenewsForEver", "NothingLeft"));
  }
}

package io.pawl.models;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A counter with one item: a take under the client's own id, a take under a caller's, each sent
 * twice at most, and a restock.
 */
class LedgerModelTest extends ModelContract {

  LedgerModelTest() {
    super(
        List.of(Model.of("Ledger")),
        Set.of(
            "an early refusal",
            "a refusal",
            "a restock of what was sold out",
            "a repetition that was told ok",
            "a repetition that was too old",
            "a copy that came after the question",
            "an id that was forgotten"),
        Map.ofEntries(
            Map.entry("ForgetsThatItForgot", "AppliedAtMostOnce"),
            Map.entry("DatesARepetitionAnew", "AppliedAtMostOnce"),
            Map.entry("AppliesWithoutLooking", "AppliedAtMostOnce"),
            Map.entry("GateRefusesWhatWasSent", "RefusedMeansNever"),
            Map.entry("GateRefusesIdsOfCallers", "RefusedMeansNever"),
            Map.entry("TakesTooOldForRefused", "RefusedMeansNever"),
            Map.entry("HearsEarlierCopies", "RefusedMeansNever"),
            Map.entry("RecordsNoRefusal", "RefusedMeansNever"),
            Map.entry("ClosesNothing", "RefusedMeansNever"),
            Map.entry("GateSells", "OkMeansOnce"),
            Map.entry("GateWritesTheTruth", "Conservation"),
            Map.entry("EntersInASecondTransaction", "LedgerBalances"),
            Map.entry("ChecksNoFloor", "WithinBounds")));
  }
}

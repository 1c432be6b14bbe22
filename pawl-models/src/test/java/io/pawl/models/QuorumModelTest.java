package io.pawl.models;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The majority of independent stores: three nodes, two claims, a lease of two ticks. One node is
 * ahead of the others; or one restarts empty; or answers are under way. Five nodes with a lease of
 * one tick.
 */
class QuorumModelTest extends ModelContract {

  private static final Model AHEAD = Model.of("Quorum");
  private static final Model EVEN = AHEAD.with("Ahead", "0").with("MaxToken", "2");
  private static final Model RESTART = EVEN.with("MaxRestarts", "1").labelled("one restart");
  private static final Model SLOW = EVEN.with("SlowAnswers", "TRUE").labelled("slow answers");
  private static final Model FIVE =
      EVEN.with("Nodes", "{n1, n2, n3, n4, n5}").with("Lease", "1").labelled("five nodes");

  QuorumModelTest() {
    super(
        List.of(AHEAD.labelled("one node ahead"), RESTART, SLOW, FIVE),
        Set.of(
            "a raise",
            "a renewal",
            "a loss",
            "a node taken back",
            "a grant by some of the nodes",
            "a grant after a grant",
            "a grant after a restart",
            "a late attempt",
            "a withdrawal that overtook an attempt",
            "a restart of a node that held a claim",
            "a node that rejoined"),
        Map.of(
            "DoesNotRaise", "TokensGrow",
            "RaisesWhereItHoldsNothing", "TokensGrow",
            "RejoinsWithoutARaise", "TokensGrow",
            "LearnsTooEarly", "TokensGrow",
            "UsesAnIdTwice", "TokensGrow",
            "VotesAtOnce", "OneHolder",
            "CountsAnErodedNode", "OneHolder",
            "CountsFromTheAnswer", "OneHolder"));
  }

  @Override
  Model whereItShows(String mistake) {
    return switch (mistake) {
      case "VotesAtOnce", "RejoinsWithoutARaise", "LearnsTooEarly" -> RESTART;
      case "CountsFromTheAnswer" -> SLOW;
      case "DoesNotRaise", "RaisesWhereItHoldsNothing" -> AHEAD;
      default -> EVEN;
    };
  }
}

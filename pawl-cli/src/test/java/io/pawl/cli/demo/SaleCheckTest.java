package io.pawl.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.demo.DemoHistory.Event;
import io.pawl.cli.demo.DemoHistory.Kind;
import io.pawl.counter.Outcome;
import io.pawl.counter.Outcome.Status;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two buyers, one prize. */
class SaleCheckTest {

  private static final Event FIRST_HAS_ONE = new Event(Kind.SOLD, 1, 0, 0, 0);
  private static final Event SECOND_HAS_NONE = new Event(Kind.SOLD_OUT, 1, 1, 0, 0);
  private static final Outcome DELIVERY = entry("delivery-1", 1);

  private static Outcome entry(String id, long change) {
    return new Outcome(id, Status.APPLIED, "add " + change, change, 0, Instant.EPOCH, null);
  }

  private static List<String> failures(long left, List<Event> told, Outcome... ledger) {
    return new SaleCheck(told, List.of(ledger), left).failures(2, 1);
  }

  @Test
  void oneIsSoldToWhomItWasToldAlsoWhenItIsToldTwice() {
    List<Event> told = List.of(FIRST_HAS_ONE, FIRST_HAS_ONE, SECOND_HAS_NONE);
    assertThat(failures(0, told, DELIVERY, entry("buyer-0", -1))).isEmpty();
  }

  @Test
  void aPrizeThatNobodyHasIsFound() {
    assertThat(failures(1, List.of(FIRST_HAS_ONE, SECOND_HAS_NONE), DELIVERY))
        .containsExactly(
            "the ledger has sold 0 of 1 prizes",
            "the counter is 1 and its ledger comes to 1, not 0",
            "buyer 0 was told of a prize and has none");
  }

  @Test
  void whoHasAPrizeAndWasToldOtherwiseOrNothingIsFound() {
    assertThat(failures(0, List.of(FIRST_HAS_ONE), DELIVERY, entry("buyer-1", -1)))
        .containsExactly("buyer 0 was told of a prize and has none", "buyer 1 was told nothing");
    assertThat(failures(0, List.of(FIRST_HAS_ONE, SECOND_HAS_NONE), DELIVERY, entry("buyer-1", -1)))
        .contains("buyer 1 was told that none is left and has one");
  }

  @Test
  void sellingTooMuchOrTwiceToOneIsFound() {
    List<Event> both = List.of(FIRST_HAS_ONE, new Event(Kind.SOLD, 1, 1, 0, 0));
    assertThat(failures(0, both, DELIVERY, entry("buyer-0", -1), entry("buyer-1", -1)))
        .containsExactly(
            "the ledger has sold 2 of 1 prizes",
            "the counter is 0 and its ledger comes to -1, not 0");
    List<Event> told = List.of(FIRST_HAS_ONE, SECOND_HAS_NONE);
    assertThat(failures(0, told, entry("delivery-1", 2), entry("buyer-0", -2)))
        .containsExactly("buyer-0 has more than one prize");
    assertThat(failures(0, told, DELIVERY, entry("somebody", -1)))
        .contains("the ledger sold to somebody, who is no buyer");
  }
}

package io.pawl.tck.counter;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.Outcome;
import io.pawl.counter.Update;
import io.pawl.spi.CounterView;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.FaultyStore;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * Cases of counters: {@code here} is a client over a store whose faults are at hand; {@code there}
 * is another client of the service.
 */
public abstract class CounterCases {

  static final Duration LONG = Duration.ofMinutes(5);

  final Bench bench;
  FaultyStore network;
  Pawl here;
  Pawl there;

  @SuppressWarnings("NullAway.Init") // the clients are opened when the subclass is ready for them
  protected CounterCases(Bench bench) {
    this.bench = bench;
  }

  @BeforeEach
  final void openTwoClients() {
    network = bench.faulty();
    here = bench.over(network);
    there = bench.pawl();
  }

  /** So that no client waits for a store that is down when it is closed. */
  @AfterEach
  final void healTheNetwork() {
    network.close();
  }

  /** A counter of this case's own, as {@code here} sees it. */
  Counter counter(String text) {
    return here.counter(bench.lock(text));
  }

  Counter counter(String text, long value) {
    Counter counter = counter(text);
    assertThat(counter.update(Update.set(value)).isApplied()).isTrue();
    return counter;
  }

  /** The same counter, as another client sees it. */
  Counter elsewhere(Counter counter) {
    return there.counter(counter.name());
  }

  /** The value is the sum of all that the ledger says was changed, and within the bounds. */
  public static void assertConserved(Counter counter) {
    List<Outcome> ledger = counter.ledger().history(Integer.MAX_VALUE);
    CounterView view = counter.read();
    long changes = ledger.stream().mapToLong(Outcome::change).sum();
    long open =
        ledger.stream()
            .filter(entry -> entry.status() == Outcome.Status.RESERVED)
            .mapToLong(Outcome::change)
            .sum();
    assertThat(view.value()).as("%s", view).isEqualTo(view.forgotten() + changes);
    assertThat(view.reserved()).as("%s", view).isEqualTo(-open);
    assertThat(view.value()).as("%s", view).isGreaterThanOrEqualTo(view.floor());
    assertThat(view.value() + view.reserved()).as("%s", view).isLessThanOrEqualTo(view.ceiling());
  }
}

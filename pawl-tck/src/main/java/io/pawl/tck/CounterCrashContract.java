package io.pawl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.OperationId;
import io.pawl.counter.Outcome;
import io.pawl.counter.Update;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.tck.counter.CounterCases;
import io.pawl.tck.rig.SecondProcess;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The promises of a counter when a process that changes it is killed halfway. For stores that
 * another process reaches by URL.
 */
public abstract class CounterCrashContract extends StoreContract {

  private static final long STOCK = 1_000_000;
  private static final int TOLD = 100;
  private static final String THREADS = "8";

  /** For subclasses. */
  protected CounterCrashContract() {}

  /** Returns the URL at which this process and others find the service. */
  protected abstract String url();

  /** Returns the value of {@code counter} as the service stores it, read without Pawl. */
  protected abstract long storedValue(String counter) throws Exception;

  @Override
  protected LockStore openStore() {
    return Stores.open(StoreUrl.parse(url()));
  }

  /** Which takes a process said that it asks for, and which of them that they were made. */
  private static final class Heard {

    final Set<String> asked = new HashSet<>();
    final Set<String> taken = new HashSet<>();

    void hear(String line) {
      String[] words = line.split(" ");
      switch (words[0]) {
        case "asks" -> assertThat(asked.add(words[1])).as(line).isTrue();
        case "taken" -> assertThat(taken.add(words[1])).as(line).isTrue();
        case "taking" -> assertThat(line).isEqualTo("taking");
        default -> throw new AssertionError("the second process said " + line);
      }
    }
  }

  @Test
  void p7_conservation_aKilledProcessLosesNothingItWasToldAndTakesNothingTwice() throws Exception {
    Pawl pawl = bench.keep(Pawl.connect(url(), PawlOptions.defaults()));
    Counter counter = pawl.counter(bench.lock("stock"));
    counter.update(Update.set(STOCK));
    SecondProcess other = bench.keep(SecondProcess.start(url()));
    Heard heard = new Heard();

    other.tell("take", counter.name(), THREADS);
    while (heard.taken.size() < TOLD) {
      heard.hear(other.reply());
    }
    other.kill();
    other.lastReplies().forEach(heard::hear);

    assertThat(heard.asked).containsAll(heard.taken);
    Set<String> applied = new HashSet<>();
    for (String id : heard.asked) {
      Outcome.Status status = counter.outcome(OperationId.of(id)).status();
      assertThat(status).as(id).isIn(Outcome.Status.APPLIED, Outcome.Status.NEVER);
      if (status == Outcome.Status.APPLIED) {
        applied.add(id);
      }
    }
    assertThat(applied).containsAll(heard.taken);
    assertThat(storedValue(counter.name())).isEqualTo(STOCK - applied.size());
    List<Outcome> ledger = counter.ledger().history(Integer.MAX_VALUE);
    assertThat(ledger).extracting(Outcome::id).doesNotHaveDuplicates();
    assertThat(ledger)
        .filteredOn(entry -> entry.change() == -1)
        .extracting(Outcome::id)
        .containsExactlyInAnyOrderElementsOf(applied);
    CounterCases.assertConserved(counter);

    String told = heard.taken.iterator().next();
    assertThat(counter.tryTake(1, OperationId.of(told)).isApplied()).isTrue();
    assertThat(storedValue(counter.name())).isEqualTo(STOCK - applied.size());
  }
}

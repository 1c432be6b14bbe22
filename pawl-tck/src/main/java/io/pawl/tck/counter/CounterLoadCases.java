package io.pawl.tck.counter;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.Change;
import io.pawl.counter.OperationId;
import io.pawl.counter.Outcome;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.options.PawlOptions;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Many at once. */
public abstract class CounterLoadCases extends CounterCases {

  private static final int BUYERS = 400;
  private static final int PRIZES = 10;
  private static final int TRIES = 3;

  /** Of one counter: all of them are remembered, on every store. */
  private static final int MOST_BUYERS = 50_000;

  protected CounterLoadCases(Bench bench) {
    super(bench);
  }

  /** See {@code CounterContract}. */
  protected abstract int takesOverALossyNetwork();

  /** See {@code CounterContract}. */
  protected abstract void assertStoredConserved(String counter) throws Exception;

  @Test
  void p7_conservation_tenPrizesAreGivenTenTimes() {
    Counter counter = counter("prizes", PRIZES);
    AtomicInteger won = new AtomicInteger();

    bench.parallel(
        BUYERS,
        i -> {
          Counter mine = i % 2 == 0 ? counter : elsewhere(counter);
          if (mine.tryTake(1, OperationId.of("buyer" + i)).isApplied()) {
            won.incrementAndGet();
          }
        });

    assertThat(won.get()).isEqualTo(PRIZES);
    assertThat(counter.get()).isZero();
    assertConserved(counter);
  }

  /** Every buyer tries several times, over a network that loses one message in four. */
  @Test
  void p7_conservation_holdsOverANetworkThatLosesMessages() throws Exception {
    List<Pawl> clients = List.of(impatientClient(), impatientClient());
    int left = (takesOverALossyNetwork() + TRIES - 1) / TRIES;
    for (int round = 0; left > 0; round++) {
      int buyers = Math.min(left, MOST_BUYERS);
      sellOverALossyNetwork(counter("faults" + round, buyers / 2), buyers, clients);
      left -= buyers;
    }
  }

  private void sellOverALossyNetwork(Counter counter, int buyers, List<Pawl> clients)
      throws Exception {
    Map<String, Change> told = new ConcurrentHashMap<>();
    bench.parallel(
        buyers,
        i -> {
          Counter mine = clients.get(i % 2).counter(counter.name());
          String id = "buyer" + i;
          for (int tries = 0; tries < TRIES; tries++) {
            if (ThreadLocalRandom.current().nextInt(4) == 0) {
              boolean reply = ThreadLocalRandom.current().nextBoolean();
              network.next(Verb.APPLY, reply ? Fault.LOSE_REPLY : Fault.LOSE_REQUEST);
            }
            try {
              Change take = mine.tryTake(1, OperationId.of(id));
              Change before = told.put(id, take);
              if (before != null) {
                assertThat(take).as(id).isEqualTo(before);
              }
            } catch (OutcomeUnknownException e) {
              assertThat(e.id().text()).isEqualTo(id);
            }
          }
        });
    network.heal();

    assertThat(counter.get()).isZero();
    assertConserved(counter);
    assertStoredConserved(counter.name());
    Map<String, Outcome.Status> recorded = new HashMap<>();
    counter
        .ledger()
        .history(Integer.MAX_VALUE)
        .forEach(entry -> recorded.put(entry.id(), entry.status()));
    told.forEach(
        (id, take) ->
            assertThat(recorded.get(id))
                .as(id)
                .isEqualTo(take.isApplied() ? Outcome.Status.APPLIED : Outcome.Status.REFUSED));
  }

  private Pawl impatientClient() {
    return bench.over(network, PawlOptions.defaults().patience(Duration.ZERO));
  }
}

package io.pawl.tck.lock;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Candidacy;
import io.pawl.Election;
import io.pawl.Lease;
import io.pawl.LeaseBody;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** One leader at a time, whose body has ended before the next one begins. */
public abstract class ElectionCases extends LockCases {

  private final AtomicInteger leading = new AtomicInteger();
  private final List<Long> tokens = new CopyOnWriteArrayList<>();
  private final List<String> overlaps = new CopyOnWriteArrayList<>();

  protected ElectionCases(Bench bench) {
    super(bench);
  }

  /** Leads until interrupted, and then for another moment. */
  private void lead(Lease lease) throws InterruptedException {
    tokens.add(lease.token()); // first, so that whoever leads is known by its token
    if (leading.incrementAndGet() > 1) {
      overlaps.add(lease.toString());
    }
    try {
      new CountDownLatch(1).await();
    } finally {
      Thread.yield();
      leading.decrementAndGet();
    }
  }

  private Candidacy stand(Pawl client, LeaseBody<Exception> body) {
    return bench.keep(client.election(bench.lock("election"), Bench.LONG).stand("c", body));
  }

  @Test
  void oneLeadsAndTheNextWhenItResignsOrCloses() {
    Candidacy first = stand(here, this::lead);
    eventually(() -> first.leadership().isPresent() && tokens.size() == 1);
    Candidacy second = stand(there, this::lead);
    eventually(() -> !lockThere(bench.lock("election")).tryAcquire().isPresent());
    assertThat(second.leadership()).isEmpty();

    first.resign();
    eventually(() -> tokens.size() >= 2);
    second.close();
    eventually(() -> first.leadership().isPresent());
    first.close();

    assertThat(first.leadership()).isEmpty();
    assertThat(overlaps).isEmpty();
    assertThat(tokens).isSorted().doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(2);
    assertComesFree(bench.lock("election"));
  }

  @Test
  void theBodyOfALeaderThatCannotRenewEndsBeforeTheNextBegins() {
    var election = bench.lock("cut");
    // A third of it is the grace, and a process that stands still for longer is outside the
    // promise.
    LockOptions options = LockOptions.defaults().lease(bench.shortLease().multipliedBy(5));
    Candidacy first = bench.keep(here.election(election, options).stand("cut off", this::lead));
    eventually(() -> tokens.size() == 1);
    Candidacy second = bench.keep(there.election(election, options).stand("next", this::lead));
    network.on(Verb.RENEW, Fault.LOSE_REQUEST).on(Verb.WITHDRAW, Fault.LOSE_REQUEST);

    eventually(() -> second.leadership().isPresent() && tokens.size() > 1);
    network.heal();
    second.close();
    eventually(() -> first.leadership().isPresent());

    assertThat(overlaps).isEmpty();
    assertThat(tokens).isSorted();
  }

  @Test
  void aClientThatClosesEndsItsLeadersBodyFirst() {
    stand(here, this::lead);
    eventually(() -> tokens.size() == 1);
    Candidacy second = stand(there, this::lead);

    here.close();

    assertThat(leading.get() == 0 || tokens.size() == 2).isTrue();
    eventually(() -> second.leadership().isPresent());
    assertThat(overlaps).isEmpty();
  }

  @Test
  void aClosedClientTakesNoCandidatesAndNoListeners() {
    Election election = here.election("election");
    here.close();
    assertThatThrownBy(() -> stand(here, this::lead)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> election.watch(Duration.ofSeconds(1), leader -> {}))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aBodyThatReturnsEndsTheCandidacyAndOneThatFailsDoesNot() throws Exception {
    stand(here, lease -> tokens.add(lease.token())).awaitEnd();
    assertThat(tokens).hasSize(1);
    assertComesFree(bench.lock("election"));

    AtomicInteger failures = new AtomicInteger();
    Candidacy failing =
        stand(
            here,
            lease -> {
              if (failures.getAndIncrement() == 0) {
                throw new IOException("logged");
              }
            });
    failing.awaitEnd();
    assertThat(failures).hasValue(2);
  }

  @Test
  void aBodyMayCloseItsOwnCandidacy() throws Exception {
    CountDownLatch stood = new CountDownLatch(1);
    Candidacy[] own = new Candidacy[1];
    own[0] =
        stand(
            here,
            lease -> {
              stood.await();
              own[0].close();
              new CountDownLatch(1).await();
            });
    stood.countDown();
    own[0].awaitEnd();
    assertComesFree(bench.lock("election"));
  }

  @Test
  void aGraceThatCannotBeIsRefused() {
    var election = here.election(bench.lock("grace"), bench.shortLived());
    assertThatThrownBy(() -> election.grace(bench.shortLease()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> election.grace(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(election.grace(Duration.ZERO).name()).isEqualTo(bench.lock("grace"));
  }
}

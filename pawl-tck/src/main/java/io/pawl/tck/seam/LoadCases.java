package io.pawl.tck.seam;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.SeamClient;
import io.pawl.tck.rig.SeamClient.Hold;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Many claims, many threads, two clients. */
public abstract class LoadCases extends SeamCases {

  private static final int THREADS = 16;
  private static final int LOCKS = 3;

  /** Claims of one lock: a tenth of what the smallest store promises. */
  private static final int CROWD = 100;

  /** How often each thread visits a lock at least; a fast store is stormed for half a second. */
  private static final int CYCLES = 15;

  private static final long STORM_NANOS = 500_000_000;

  protected LoadCases(Bench bench) {
    super(bench);
  }

  @Test
  void manyClaimsInOneRenew() {
    int batch = here.store().renewBatch();
    assertThat(batch).isPositive();
    List<CompletableFuture<Standing>> answers = new ArrayList<>();
    List<Claim> claims = new ArrayList<>();
    for (int i = 0; i < batch; i++) {
      Claim claim = here.ask(bench.lock("many" + i)).claim();
      claims.add(claim);
      answers.add(here.store().attempt(claim, standing -> {}).toCompletableFuture());
    }
    Map<ClaimId, Standing> granted = new HashMap<>();
    for (int i = 0; i < batch; i++) {
      CompletableFuture<Standing> answer = answers.get(i);
      granted.put(claims.get(i).id(), SeamClient.held(SeamClient.answer(() -> answer)));
    }

    assertThat(here.renew(claims)).isEqualTo(granted);

    claims.forEach(here::withdraw);
    assertThat(here.renew(claims).values()).hasSize(batch).containsOnly(Standing.GONE);
  }

  /** A store that has no place for a claim tells it to wait as well. */
  @Test
  void p6_someoneGetsIn_aHundredWaitersKeepTheirPlaces() {
    String lock = bench.lock("crowd");
    Hold hold = here.take(lock);
    List<Claim> queue = new ArrayList<>();
    for (int i = 0; i < CROWD; i++) {
      queue.add(client(i).ask(lock).stand());
    }

    here.withdraw(hold);

    for (int i = 0; i < CROWD; i++) {
      Claim next = queue.get(i);
      assertThat(client(i).renew(next)).as("number %s", i).isInstanceOf(Standing.Held.class);
      client(i).withdraw(next);
    }
    assertThat(here.findsFree(lock)).isTrue();
  }

  @Test
  void p8_nothingLeftBehind_aHundredWithdrawalsAreRemembered() {
    String lock = bench.lock("withdrawals");
    List<Claim> late = new ArrayList<>();
    for (int i = 0; i < CROWD; i++) {
      Claim claim = client(i).ask(lock).claim();
      client(i).withdraw(claim.asUnsettled());
      late.add(claim);
    }

    for (int i = 0; i < CROWD; i++) {
      assertThat(client(i).attempt(late.get(i))).as("number %s", i).isEqualTo(Standing.GONE);
    }

    assertThat(here.findsFree(lock)).isTrue();
  }

  private SeamClient client(int number) {
    return number % 2 == 0 ? there : here;
  }

  @Test
  void ofManyFirstRequestsForANameOneIsGrantedAndNoneFails() throws Exception {
    for (int round = 0; round < 5; round++) {
      String lock = bench.lock("first" + round);
      CyclicBarrier start = new CyclicBarrier(THREADS);
      List<Running<Standing>> asking = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        SeamClient client = i % 2 == 0 ? here : there;
        Claim claim = client.ask(lock).withoutQueueing().claim();
        asking.add(
            bench.start(
                () -> {
                  start.await();
                  return client.attempt(claim);
                }));
      }
      int granted = 0;
      for (Running<Standing> one : asking) {
        granted += one.result() instanceof Standing.Held ? 1 : 0;
      }
      assertThat(granted).isEqualTo(1);
    }
  }

  @Test
  void aStormNeverSharesALockAndItsTokensOnlyGrow() throws Exception {
    List<Room> rooms = new ArrayList<>();
    for (int i = 0; i < LOCKS; i++) {
      rooms.add(new Room(bench.lock("storm" + i)));
    }
    CyclicBarrier start = new CyclicBarrier(THREADS);
    List<Running<Boolean>> running = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      SeamClient client = t % 2 == 0 ? here : there;
      int first = t;
      running.add(
          bench.start(
              () -> {
                start.await();
                long end = System.nanoTime() + STORM_NANOS;
                for (int cycle = 0; cycle < CYCLES || System.nanoTime() < end; cycle++) {
                  rooms.get((first + cycle) % LOCKS).visit(client);
                }
                return true;
              }));
    }
    for (Running<Boolean> one : running) {
      assertThat(one.result()).isTrue();
    }
    for (Room room : rooms) {
      assertThat(here.findsFree(room.lock)).isTrue();
    }
  }

  /** A lock, and what its holders see of each other. */
  private static final class Room {
    private final String lock;
    private final AtomicLong inside = new AtomicLong();
    private final AtomicLong last = new AtomicLong();

    Room(String lock) {
      this.lock = lock;
    }

    void visit(SeamClient client) throws InterruptedException {
      Hold hold = waitFor(client);
      long token = hold.tokens().token();
      assertThat(inside.compareAndSet(0, token)).as("alone in %s", lock).isTrue();
      assertThat(last.getAndSet(hold.tokens().lastToken())).isLessThan(token);
      assertThat(inside.compareAndSet(token, 0)).as("alone in %s", lock).isTrue();
      client.withdraw(hold);
    }

    /** As the engine does: by bell, or by asking again. */
    private Hold waitFor(SeamClient client) throws InterruptedException {
      CompletableFuture<Standing> rung = new CompletableFuture<>();
      Claim claim = client.ask(lock).tokens(3).claim();
      Standing standing = client.attempt(claim, rung::complete);
      while (!(standing instanceof Standing.Held tokens)) {
        assertThat(standing).isInstanceOf(Standing.Waiting.class);
        standing = rungOrRenewed(client, claim, rung);
      }
      return new Hold(claim, tokens);
    }

    private static Standing rungOrRenewed(
        SeamClient client, Claim claim, CompletableFuture<Standing> rung)
        throws InterruptedException {
      try {
        return rung.get(500, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        return client.renew(claim);
      } catch (ExecutionException e) {
        throw new AssertionError(e);
      }
    }
  }
}

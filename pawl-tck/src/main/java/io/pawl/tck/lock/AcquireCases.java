package io.pawl.tck.lock;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Taking, waiting, giving up, giving back. */
public abstract class AcquireCases extends LockCases {

  private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);
  private static final int RACES = 30;

  protected AcquireCases(Bench bench) {
    super(bench);
  }

  @Test
  void p1_oneHolder_tryAcquireIsEmptyWhileAnotherHolds() throws Exception {
    String lock = bench.lock("busy");
    try (Lease lease = lockThere(lock).acquire()) {
      assertThat(lockHere(lock).tryAcquire()).isEmpty();
      assertThat(lockHere(lock).tryAcquire(Duration.ZERO)).isEmpty();
      assertThat(lockHere(lock).tryAcquire(Duration.ofMillis(20))).isEmpty();
      assertThat(lockThere(lock).tryAcquire()).isEmpty();
      assertThat(lockHere(lock).tryAcquireAsync(Duration.ZERO).get()).isEmpty();
      assertThat(lease.isValid()).isTrue();
    }
    assertThat(lockHere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p1_oneHolder_acquireWaitsForTheRelease() throws Exception {
    String lock = bench.lock("waits");
    Lease lease = lockThere(lock).acquire();
    Running<Lease> waiting = standInLine(() -> lockHere(lock).acquire());
    assertThat(waiting.task().isDone()).isFalse();

    lease.close();

    Lease next = waiting.result();
    assertThat(next.isValid()).isTrue();
    assertThat(next.token()).isGreaterThan(lease.token());
    assertThat(next.lock()).isEqualTo(lock);
    assertThat(next.remaining()).isBetween(Duration.ofNanos(1), Bench.LONG_LEASE);
  }

  @Test
  void p4_onlyTheOwner_aLeaseClosesOnce() throws Exception {
    String lock = bench.lock("once");
    Lease lease = lockHere(lock).acquire();
    lease.close();
    assertThat(lease.isValid()).isFalse();
    assertThat(lease.remaining()).isZero();
    assertThatThrownBy(lease::ensureValid).isInstanceOf(IllegalStateException.class);
    Lease next = lockThere(lock).tryAcquire().orElseThrow();

    lease.close();
    lease.closeAsync().get(20, TimeUnit.SECONDS);

    assertThat(next.isValid()).isTrue();
    assertThat(lockHere(lock).tryAcquire()).isEmpty();
  }

  @Test
  void p4_onlyTheOwner_aLeaseIsBoundToNoThread() throws Exception {
    String lock = bench.lock("threads");
    Lease lease = bench.start(() -> lockHere(lock).acquire()).result();
    assertThat(lease.isValid()).isTrue();

    boolean closed =
        bench
            .start(
                () -> {
                  lease.ensureValid();
                  lease.close();
                  return true;
                })
            .result();

    assertThat(closed).isTrue();
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p4_onlyTheOwner_aThreadThatHoldsIsNoOwnerOfTheNextRequest() throws Exception {
    String lock = bench.lock("notReentrant");
    try (Lease lease = lockHere(lock).acquire()) {
      assertThat(lockHere(lock).tryAcquire()).isEmpty();
      assertThat(lockHere(lock).tryAcquire(Duration.ofMillis(20))).isEmpty();
    }
  }

  @Test
  void p6_someoneGetsIn_aWaitThatTimesOutLeavesNothingInLine() throws Exception {
    String lock = bench.lock("timeout");
    Lease lease = lockThere(lock).acquire();
    Duration wait = Duration.ofMillis(100);
    long start = System.nanoTime();

    assertThat(lockHere(lock).tryAcquire(wait)).isEmpty();
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(wait);
    assertThat(strict(lock).tryAcquire(wait)).isEmpty();
    assertThat(lockHere(lock).tryAcquireAsync(wait).get(20, TimeUnit.SECONDS)).isEmpty();

    assertLeftTheLine(3);
    lease.close();
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p6_someoneGetsIn_aThreadThatTimesOutLeavesTheOtherThreadsInLine() throws Exception {
    String lock = bench.lock("timeoutOfOne");
    Lease lease = lockThere(lock).acquire();
    Running<Lease> patient = standInLine(() -> lockHere(lock).acquire());

    assertThat(lockHere(lock).tryAcquire(Duration.ofMillis(20))).isEmpty();
    lease.close();

    patient.result().close();
    assertComesFree(lock);
  }

  @Test
  void p6_someoneGetsIn_anInterruptedWaitLeavesNothingInLine() throws Exception {
    String lock = bench.lock("interrupt");
    Lease lease = lockThere(lock).acquire();
    for (boolean strict : new boolean[] {false, true}) {
      Running<Lease> waiting =
          standInLine(() -> strict ? strict(lock).acquire() : lockHere(lock).acquire());
      waiting.thread().interrupt();
      assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
    }
    assertLeftTheLine(2);
    lease.close();
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p6_someoneGetsIn_whoIsInterruptedBeforeAskingAsksNothing() throws Exception {
    String lock = bench.lock("interrupted");
    Running<Optional<Lease>> interrupted =
        bench.start(
            () -> {
              Thread.currentThread().interrupt();
              return lockHere(lock).tryAcquire(Duration.ofSeconds(5));
            });
    assertThatThrownBy(interrupted::result).isInstanceOf(InterruptedException.class);
    assertThat(network.calls(Verb.ATTEMPT)).isZero();
  }

  @Test
  void p6_someoneGetsIn_tryAcquireWithoutAWaitKeepsTheInterruptForLater() throws Exception {
    String lock = bench.lock("flag");
    Running<Boolean> flagged =
        bench.start(
            () -> {
              Thread.currentThread().interrupt();
              try (Lease lease = lockHere(lock).tryAcquire().orElseThrow()) {
                return lease.isValid() && Thread.currentThread().isInterrupted();
              }
            });
    assertThat(flagged.result()).isTrue();
    assertComesFree(lock);
  }

  @Test
  void p6_someoneGetsIn_aGrantThatRacesAnInterruptIsGivenBackOrGiven() throws Exception {
    String lock = bench.lock("raceInterrupt");
    for (int round = 0; round < RACES; round++) {
      Lease lease = lockThere(lock).acquire();
      Running<Lease> waiting = standInLine(() -> lockHere(lock).acquire());
      Running<Boolean> releasing = bench.start(() -> closed(lease));
      waiting.thread().interrupt();
      releasing.result();
      try {
        waiting.result().close();
      } catch (InterruptedException expectedOften) {
        assertThat(waiting.task().isDone()).isTrue();
      }
      assertComesFree(lock);
    }
  }

  @Test
  void p6_someoneGetsIn_aGrantThatRacesATimeoutIsGivenBackOrGiven() throws Exception {
    String lock = bench.lock("raceTimeout");
    for (int round = 0; round < RACES; round++) {
      Lease lease = lockThere(lock).acquire();
      Duration wait = Duration.ofMillis(1 + round % 5);
      Running<Optional<Lease>> waiting = bench.start(() -> lockHere(lock).tryAcquire(wait));
      CompletableFuture<Optional<Lease>> async = lockHere(lock).tryAcquireAsync(wait);
      lease.close();
      waiting.result().ifPresent(Lease::close);
      async.get(20, TimeUnit.SECONDS).ifPresent(Lease::close);
      assertComesFree(lock);
    }
  }

  @Test
  void p6_someoneGetsIn_anAsyncRequestIsGrantedAtOnceOrLater() throws Exception {
    String lock = bench.lock("async");
    Lease first =
        lockHere(lock).tryAcquireAsync(Duration.ZERO).get(20, TimeUnit.SECONDS).orElseThrow();
    AtomicLong last = new AtomicLong(first.token());
    List<CompletableFuture<Boolean>> later = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      later.add(
          (i % 2 == 0 ? lockHere(lock) : lockThere(lock))
              .tryAcquireAsync(FOR_EVER)
              .thenApply(lease -> growsAndCloses(last, lease.orElseThrow())));
    }
    assertThat(later).noneMatch(CompletableFuture::isDone);

    first.closeAsync().get(20, TimeUnit.SECONDS);

    for (CompletableFuture<Boolean> each : later) {
      assertThat(each.get(20, TimeUnit.SECONDS)).isTrue();
    }
    assertComesFree(lock);
  }

  @Test
  void p6_someoneGetsIn_aCancelledFutureLeavesNothingInLine() throws Exception {
    String lock = bench.lock("cancel");
    Lease lease = lockThere(lock).acquire();
    CompletableFuture<Optional<Lease>> cancelled = lockHere(lock).tryAcquireAsync(FOR_EVER);
    CompletableFuture<Optional<Lease>> completed = strict(lock).tryAcquireAsync(FOR_EVER);
    eventually(() -> network.answers(Verb.ATTEMPT) == 2);

    cancelled.cancel(false);
    completed.complete(Optional.empty());
    assertLeftTheLine(2);
    lease.close();

    assertThatThrownBy(cancelled::get).isInstanceOf(CancellationException.class);
    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p6_someoneGetsIn_aGrantThatRacesACancelIsGivenBack() throws Exception {
    String lock = bench.lock("raceCancel");
    for (int round = 0; round < RACES; round++) {
      Lease lease = lockThere(lock).acquire();
      CompletableFuture<Optional<Lease>> future = lockHere(lock).tryAcquireAsync(FOR_EVER);
      Running<Boolean> releasing = bench.start(() -> closed(lease));
      if (!future.cancel(false)) {
        future.get().ifPresent(Lease::close);
      }
      releasing.result();
      assertComesFree(lock);
    }
  }

  /** The grant is decided, and what would tell the future of it is stuck behind users' code. */
  @Test
  void p6_someoneGetsIn_aGrantThatFindsItsFutureCancelledIsGivenBack() throws Exception {
    String lock = bench.lock("cancelledLate");
    CountDownLatch unblocked = new CountDownLatch(1);
    ExecutorService full = Executors.newSingleThreadExecutor();
    bench.keep(full::shutdownNow);
    full.execute(() -> awaitQuietly(unblocked));
    Pawl client = bench.over(network, PawlOptions.defaults().executor(full));
    Lease lease = lockThere(lock).acquire();
    CompletableFuture<Optional<Lease>> future =
        client.lock(lock, Bench.LONG).tryAcquireAsync(FOR_EVER);
    eventually(() -> network.answers(Verb.ATTEMPT) == 1);
    lease.close();
    eventually(() -> network.grantsRung() == 1);

    assertThat(future.cancel(false)).isTrue();

    assertComesFree(lock);
    unblocked.countDown();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void waitsMayBeForEverButNotNegative() throws Exception {
    String lock = bench.lock("waits");
    for (Duration negative : List.of(Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE))) {
      assertThatThrownBy(() -> lockHere(lock).tryAcquire(negative))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> lockHere(lock).tryAcquireAsync(negative))
          .isInstanceOf(IllegalArgumentException.class);
    }
    Lease lease = lockHere(lock).tryAcquire(FOR_EVER).orElseThrow();
    Running<Optional<Lease>> waiting = bench.start(() -> lockHere(lock).tryAcquire(FOR_EVER));
    lease.close();
    waiting.result().orElseThrow().close();
    lockHere(lock).tryAcquireAsync(FOR_EVER).get(20, TimeUnit.SECONDS).orElseThrow().close();
  }

  @Test
  void leasesAreBounded() throws Exception {
    LockOptions options = LockOptions.defaults();
    for (Duration refused :
        List.of(
            Duration.ZERO,
            Duration.ofMillis(-1),
            Duration.ofMillis(99),
            Duration.ofDays(7).plusNanos(1),
            FOR_EVER)) {
      assertThatThrownBy(() -> options.lease(refused)).isInstanceOf(IllegalArgumentException.class);
    }
    here.lock(bench.lock("short"), options.lease(Duration.ofMillis(100))).acquire().closeAsync();
    Duration most = bench.longestLease();
    Lease longest = here.lock(bench.lock("long"), options.lease(most)).acquire();
    assertThat(longest.remaining()).isBetween(most.multipliedBy(6).dividedBy(7), most);
    longest.close();
  }

  @Test
  void namesThatCannotBeAreRefusedBeforeAnythingIsSent() {
    String halfOfAPair = "x\uD83D";
    for (String refused :
        List.of("", "a\u0000b", "a\r\nb", "\u0085", halfOfAPair, "x".repeat(513))) {
      assertThatThrownBy(() -> here.lock(refused))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("lock name");
    }
    assertThat(network.calls(Verb.ATTEMPT)).isZero();
  }

  private DistributedLock strict(String lock) {
    return here.lock(lock, Bench.LONG.strictOrder());
  }

  private static boolean growsAndCloses(AtomicLong last, Lease lease) {
    boolean grows = last.getAndSet(lease.token()) < lease.token();
    lease.close();
    return grows;
  }

  private static boolean closed(Lease lease) {
    lease.close();
    return true;
  }
}

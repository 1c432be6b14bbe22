package io.pawl.tck.lock;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.DistributedLock;
import io.pawl.DistributedReadWriteLock;
import io.pawl.Lease;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.Test;

/** Readers and writers. */
public abstract class ReadWriteCases extends LockCases {

  protected ReadWriteCases(Bench bench) {
    super(bench);
  }

  private DistributedReadWriteLock rwHere(String lock) {
    return here.readWriteLock(lock, Bench.LONG);
  }

  private DistributedReadWriteLock rwThere(String lock) {
    return there.readWriteLock(lock, Bench.LONG);
  }

  @Test
  void p1_oneHolder_readersHoldTogetherAndKeepWritersOut() throws Exception {
    String lock = bench.lock("together");
    Lease one = rwHere(lock).readLock().acquire();
    Lease two = rwHere(lock).readLock().acquire();
    Lease three = rwThere(lock).readLock().acquire();
    assertThat(rwHere(lock).writeLock().tryAcquire()).isEmpty();
    assertThat(rwThere(lock).writeLock().tryAcquire()).isEmpty();
    assertThat(lockThere(lock).tryAcquire()).as("a lock is the writers' side").isEmpty();
    assertThat(List.of(one, two, three)).allMatch(Lease::isValid).allMatch(Lease::isShared);

    one.close();
    two.close();
    assertThat(rwHere(lock).writeLock().tryAcquire()).isEmpty();
    three.close();

    try (Lease writer = rwHere(lock).writeLock().tryAcquire().orElseThrow()) {
      assertThat(writer.isShared()).isFalse();
      assertThat(rwHere(lock).readLock().tryAcquire()).isEmpty();
      assertThat(rwThere(lock).readLock().tryAcquire(Duration.ofMillis(20))).isEmpty();
    }
  }

  @Test
  void p2_tokensOnlyGrow_readersTokensStandBetweenThoseOfWriters() throws Exception {
    String lock = bench.lock("tokens");
    long before = token(rwThere(lock).writeLock());
    List<Lease> readers = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      readers.add((i % 2 == 0 ? rwHere(lock) : rwThere(lock)).readLock().acquire());
    }
    List<Long> tokens = readers.stream().map(Lease::token).toList();
    readers.forEach(Lease::close);
    long after = token(rwHere(lock).writeLock());

    assertThat(tokens).doesNotHaveDuplicates().allMatch(token -> before < token && token < after);
  }

  private static long token(DistributedLock lock) throws InterruptedException {
    try (Lease lease = lock.acquire()) {
      return lease.token();
    }
  }

  @Test
  void p6_someoneGetsIn_aWriterIsNotOvertakenByReadersThatComeLater() throws Exception {
    String lock = bench.lock("writer");
    Lease reader = rwThere(lock).readLock().acquire();
    Running<Lease> writer = standInLine(() -> rwHere(lock).writeLock().acquire());
    assertThat(rwThere(lock).readLock().tryAcquire(Duration.ofMillis(20))).isEmpty();
    Running<Lease> late = standInLine(() -> rwHere(lock).readLock().acquire());

    reader.close();

    Lease writing = writer.result();
    assertThat(late.task().isDone()).isFalse();
    writing.close();
    assertThat(late.result().token()).isGreaterThan(writing.token());
  }

  /** Readers of its own client come and go all the time, and may not join for ever. */
  @Test
  void p6_someoneGetsIn_noWriterStarvesBesideBusyReaders() throws Exception {
    String lock = bench.lock("starve");
    AtomicBoolean over = new AtomicBoolean();
    List<Running<Boolean>> readers = new ArrayList<>();
    AtomicInteger reads = new AtomicInteger();
    for (int i = 0; i < 6; i++) {
      DistributedLock readLock = (i < 4 ? rwHere(lock) : rwThere(lock)).readLock();
      readers.add(
          bench.start(
              () -> {
                while (!over.get()) {
                  try (Lease lease = readLock.acquire()) {
                    reads.incrementAndGet();
                    Thread.yield();
                  }
                }
                return true;
              }));
    }
    eventually(() -> reads.get() > 20);
    for (int i = 0; i < 4; i++) {
      DistributedReadWriteLock writers = i % 2 == 0 ? rwHere(lock) : rwThere(lock);
      try (Lease writer = writers.writeLock().tryAcquire(Bench.PATIENCE).orElseThrow()) {
        assertThat(writer.isValid()).isTrue();
      }
    }
    int before = reads.get();
    eventually(() -> reads.get() > before + 20);
    over.set(true);
    for (Running<Boolean> reader : readers) {
      assertThat(reader.result()).isTrue();
    }
  }

  @Test
  void p6_someoneGetsIn_aReleaseLetsInTheWholeRunOfReaders() throws Exception {
    String lock = bench.lock("run");
    Lease writer = rwThere(lock).writeLock().acquire();
    Running<Lease> first = standInLine(() -> rwHere(lock).readLock().acquire());
    List<CompletableFuture<Optional<Lease>>> more = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      more.add(rwHere(lock).readLock().tryAcquireAsync(Bench.PATIENCE));
      more.add(rwThere(lock).readLock().tryAcquireAsync(Bench.PATIENCE));
    }

    writer.close();

    assertThat(first.result().isValid()).isTrue();
    for (CompletableFuture<Optional<Lease>> reader : more) {
      Lease lease = reader.get(20, TimeUnit.SECONDS).orElseThrow();
      assertThat(lease.isValid()).as("all hold at once").isTrue();
    }
  }

  @Test
  void readersOfAClientJoinWithoutATrip() throws Exception {
    String lock = bench.lock("join");
    LockOptions options = Bench.LONG.localPassing(1_000, Duration.ofSeconds(1));
    DistributedLock readLock = here.readWriteLock(lock, options).readLock();
    int mostJoined = 0;
    for (int round = 0; round < 20 && mostJoined == 0; round++) {
      List<Lease> leases = new ArrayList<>();
      int asked = network.calls(Verb.ATTEMPT);
      for (int i = 0; i < 30; i++) {
        leases.add(readLock.acquire());
      }
      mostJoined = 30 - (network.calls(Verb.ATTEMPT) - asked);
      leases.forEach(Lease::close);
    }
    assertThat(mostJoined).isPositive();
    assertComesFree(lock);
  }

  @Test
  void inStrictOrderEveryReaderStandsInTheStoresQueue() throws Exception {
    String lock = bench.lock("strictReaders");
    DistributedLock readLock = here.readWriteLock(lock, Bench.LONG.strictOrder()).readLock();
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      leases.add(readLock.acquire());
    }
    assertThat(network.calls(Verb.ATTEMPT)).isGreaterThanOrEqualTo(leases.size());
    assertThat(leases).allMatch(Lease::isValid);
    leases.forEach(Lease::close);
    assertComesFree(lock);
  }

  @Test
  void p8_nothingLeftBehind_aReaderThatGivesUpLeavesTheLine() throws Exception {
    String lock = bench.lock("givesUp");
    Lease writer = rwThere(lock).writeLock().acquire();
    assertThat(rwHere(lock).readLock().tryAcquire(Duration.ofMillis(50))).isEmpty();
    Running<Lease> interrupted = standInLine(() -> rwHere(lock).readLock().acquire());
    interrupted.thread().interrupt();
    assertThatThrownBy(interrupted::result).isInstanceOf(InterruptedException.class);
    int asked = network.answers(Verb.ATTEMPT);
    CompletableFuture<Optional<Lease>> cancelled =
        rwHere(lock).readLock().tryAcquireAsync(Bench.PATIENCE);
    eventually(() -> network.answers(Verb.ATTEMPT) > asked);
    cancelled.cancel(false);
    assertLeftTheLine(3);

    writer.close();

    assertComesFree(lock);
  }

  @Test
  void p6_someoneGetsIn_aWriterThatGivesUpLetsTheReadersBehindItIn() throws Exception {
    String lock = bench.lock("letsIn");
    Lease reader = rwThere(lock).readLock().acquire();
    Running<Lease> writer = standInLine(() -> rwHere(lock).writeLock().acquire());
    Running<Lease> behind = standInLine(() -> rwHere(lock).readLock().acquire());
    assertThat(behind.task().isDone()).isFalse();

    writer.thread().interrupt();

    assertThat(behind.result().isValid()).isTrue();
    assertThat(reader.isValid()).isTrue();
  }

  @Test
  void p6_someoneGetsIn_aDeadReaderDelaysAWriterByItsLease() throws Exception {
    String lock = bench.lock("dead");
    long taken = System.nanoTime();
    Lease dead = here.readWriteLock(lock, bench.shortLived()).readLock().acquire();
    network.cut();

    Lease writer = rwThere(lock).writeLock().tryAcquire(Bench.PATIENCE).orElseThrow();

    Bench.assertKeptFor(bench.shortLease(), taken);
    assertThat(dead.isValid()).isFalse();
    assertThat(writer.token()).isGreaterThan(dead.token());
    assertThatThrownBy(dead::close).isInstanceOf(LeaseLostException.class);
  }

  @Test
  void p5_lossIsTold_toEveryReaderThatSharesAHold() throws Exception {
    String lock = bench.lock("lossOfAll");
    LockOptions options = bench.shortLived().localPassing(1_000, Duration.ofSeconds(1));
    DistributedLock readLock = here.readWriteLock(lock, options).readLock();
    List<Lease> leases = new ArrayList<>();
    AtomicInteger told = new AtomicInteger();
    for (int i = 0; i < 12; i++) {
      Lease lease = readLock.acquire();
      lease.onLost(told::incrementAndGet);
      leases.add(lease);
    }

    network.cut();

    eventually(() -> told.get() == leases.size());
    assertThat(leases).noneMatch(Lease::isValid);
  }

  @Test
  void aWriterBecomesAReaderWithoutAGap() throws Exception {
    String lock = bench.lock("downgrade");
    Lease lease = rwThere(lock).writeLock().acquire();
    long token = lease.token();
    Running<Lease> reader = standInLine(() -> rwHere(lock).readLock().acquire());
    Running<Lease> writer = bench.start(() -> rwThere(lock).writeLock().acquire());

    lease.downgrade();

    assertThat(reader.result().isValid()).isTrue();
    assertThat(lease.isValid()).isTrue();
    assertThat(lease.isShared()).isTrue();
    assertThat(lease.token()).isEqualTo(token);
    assertThat(writer.task().isDone()).isFalse();
    assertThatThrownBy(lease::downgrade).isInstanceOf(IllegalStateException.class);
    lease.close();
    reader.result().close();
    assertThat(writer.result().token()).isGreaterThan(token);
  }

  @Test
  void aDowngradeWhoseAnswerIsLostIsMadeAgain() throws Exception {
    String lock = bench.lock("lostDowngrade");
    Lease lease = rwHere(lock).writeLock().acquire();
    network.next(Verb.ATTEMPT, Fault.LOSE_REQUEST, Fault.LOSE_REPLY, Fault.LOSE_REQUEST);

    lease.downgrade();

    assertThat(lease.isValid()).isTrue();
    rwThere(lock).readLock().tryAcquire(Bench.PATIENCE).orElseThrow().close();
    assertThat(rwThere(lock).writeLock().tryAcquire()).isEmpty();
    lease.close();
    assertComesFree(lock);
  }

  @Test
  void p5_lossIsTold_byTheDowngradeOfALeaseThatIsLost() throws Exception {
    String lock = bench.lock("lostBefore");
    Lease lease = here.readWriteLock(lock, bench.shortLived()).writeLock().acquire();
    network.cut();
    Lease next = rwThere(lock).writeLock().tryAcquire(Bench.PATIENCE).orElseThrow();

    assertThatThrownBy(lease::downgrade).isInstanceOf(LeaseLostException.class);

    assertThat(next.isValid()).isTrue();
  }

  @Test
  void aReadersLeaseCannotBeDowngraded() throws Exception {
    try (Lease lease = rwHere(bench.lock("reader")).readLock().acquire()) {
      assertThatThrownBy(lease::downgrade)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("not a writer's");
    }
  }

  @Test
  void aThreadThatWritesMayReadAndStopWritingFirst() throws Exception {
    String lock = bench.lock("javaDowngrade");
    ReadWriteLock view = rwHere(lock).asJavaReadWriteLock();
    view.writeLock().lock();
    view.readLock().lock();
    assertThat(network.calls(Verb.ATTEMPT)).isEqualTo(1);
    assertThat(rwThere(lock).readLock().tryAcquire()).isEmpty();

    view.writeLock().unlock();

    rwThere(lock).readLock().tryAcquire(Bench.PATIENCE).orElseThrow().close();
    assertThat(rwThere(lock).writeLock().tryAcquire()).isEmpty();
    assertThatThrownBy(() -> view.writeLock().unlock())
        .isInstanceOf(IllegalMonitorStateException.class);
    view.readLock().unlock();
    assertComesFree(lock);
  }

  @Test
  void aThreadThatReadsIsToldThatItCannotWrite() throws Exception {
    String lock = bench.lock("javaUpgrade");
    ReadWriteLock view = rwHere(lock).asJavaReadWriteLock();
    view.readLock().lock();
    view.readLock().lock();
    assertThatThrownBy(() -> view.writeLock().lock())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(lock)
        .hasMessageContaining("wait for itself");
    assertThatThrownBy(() -> view.writeLock().lockInterruptibly())
        .isInstanceOf(IllegalStateException.class);
    assertThat(view.writeLock().tryLock()).isFalse();
    assertThat(view.writeLock().tryLock(1, TimeUnit.SECONDS)).isFalse();
    view.readLock().unlock();
    view.readLock().unlock();
    assertThatThrownBy(() -> view.readLock().unlock())
        .isInstanceOf(IllegalMonitorStateException.class);
    assertComesFree(lock);
  }

  @Test
  void threadsReadTogetherThroughTheView() throws Exception {
    String lock = bench.lock("javaReaders");
    Lock read = rwHere(lock).asJavaReadWriteLock().readLock();
    read.lock();
    assertThat(
            bench
                .start(
                    () -> {
                      boolean held = read.tryLock(20, TimeUnit.SECONDS);
                      read.unlock();
                      return held;
                    })
                .result())
        .isTrue();
    assertThatThrownBy(read::newCondition).isInstanceOf(UnsupportedOperationException.class);
    read.unlock();
    assertComesFree(lock);
  }
}

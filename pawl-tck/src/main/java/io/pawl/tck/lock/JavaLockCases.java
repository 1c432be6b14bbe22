package io.pawl.tck.lock;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.JavaLock;
import io.pawl.JavaReadWriteLock;
import io.pawl.Lease;
import io.pawl.error.LeaseLostException;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** The view as a {@link Lock} of {@code java.util.concurrent}. */
public abstract class JavaLockCases extends LockCases {

  protected JavaLockCases(Bench bench) {
    super(bench);
  }

  private JavaLock viewHere(String lock) {
    return lockHere(lock).asJavaLock();
  }

  @Test
  void p1_oneHolder_aViewExcludesOtherThreadsAndOtherClients() throws Exception {
    String lock = bench.lock("view");
    Lock view = viewHere(lock);
    view.lock();
    assertThat(bench.start(() -> view.tryLock()).result()).isFalse();
    assertThat(bench.start(() -> view.tryLock(20, TimeUnit.MILLISECONDS)).result()).isFalse();
    assertThat(lockThere(lock).tryAcquire()).isEmpty();

    view.unlock();

    assertThat(lockThere(lock).tryAcquire()).isPresent();
  }

  @Test
  void p4_onlyTheOwner_aThreadReentersAndUnlocksAsOftenAsItLocked() throws Exception {
    String lock = bench.lock("reenter");
    Lock view = viewHere(lock);
    view.lock();
    assertThat(view.tryLock()).isTrue();
    assertThat(viewHere(lock).tryLock(1, TimeUnit.SECONDS)).isTrue();
    view.lockInterruptibly();
    int asked = network.calls(Verb.ATTEMPT);
    assertThat(asked).isEqualTo(1);

    for (int i = 0; i < 3; i++) {
      view.unlock();
      assertThat(lockThere(lock).tryAcquire()).isEmpty();
    }
    view.unlock();

    assertThat(lockThere(lock).tryAcquire()).isPresent();
    assertThatThrownBy(view::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  @Test
  void p4_onlyTheOwner_anotherThreadCannotUnlock() throws Exception {
    String lock = bench.lock("nonOwner");
    Lock view = viewHere(lock);
    view.lock();
    Running<Boolean> thief =
        bench.start(
            () -> {
              view.unlock();
              return true;
            });
    assertThatThrownBy(thief::result).isInstanceOf(IllegalMonitorStateException.class);
    assertThat(lockThere(lock).tryAcquire()).isEmpty();
    view.unlock();
  }

  @Test
  void p3_fencedSafety_theThreadInsideHasATokenThatGrows() throws Exception {
    String lock = bench.lock("fenced");
    JavaLock view = viewHere(lock);
    Lease before = lockHere(lock).acquire();
    assertThatThrownBy(view::token).isInstanceOf(IllegalMonitorStateException.class);
    before.close();

    view.lock();

    long token = view.token();
    assertThat(token).isGreaterThan(before.token());
    view.lock();
    assertThat(viewHere(lock).token()).isEqualTo(token);
    assertThat(view.getHoldCount()).isEqualTo(2);
    assertThat(view.isValid()).isTrue();
    assertThat(view.remaining()).isPositive();
    assertThat(bench.start(view::isHeldByCurrentThread).result()).isFalse();
    assertThat(bench.start(view::isValid).result()).isFalse();
    assertThat(bench.start(view::getHoldCount).result()).isZero();
    view.unlock();
    view.unlock();
    assertThat(view.isHeldByCurrentThread()).isFalse();
    assertThat(view.isValid()).isFalse();
    assertThatThrownBy(view::ensureValid).isInstanceOf(IllegalMonitorStateException.class);
    assertThat(lockThere(lock).acquire().token()).isGreaterThan(token);
  }

  @Test
  void p5_lossIsTold_toTheThreadInside() throws Exception {
    String lock = bench.lock("viewLost");
    JavaLock view = here.lock(lock, bench.shortLived()).asJavaLock();
    assertThatThrownBy(() -> view.onLost(() -> {}))
        .isInstanceOf(IllegalMonitorStateException.class);
    view.lock();
    long token = view.token();
    AtomicInteger losses = new AtomicInteger();
    view.onLost(losses::incrementAndGet);
    network.on(Verb.RENEW, Fault.LOSE_REQUEST);

    eventually(() -> !view.isValid());

    eventually(() -> losses.get() == 1);
    assertThat(view.isHeldByCurrentThread()).isTrue();
    assertThat(view.token()).isEqualTo(token);
    assertThatThrownBy(view::ensureValid).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(view::unlock).isInstanceOf(LeaseLostException.class);
    assertThat(view.isHeldByCurrentThread()).isFalse();
  }

  @Test
  void eachSideOfAReadWriteLockTellsOfItself() {
    String lock = bench.lock("sides");
    JavaReadWriteLock view = here.readWriteLock(lock, Bench.LONG).asJavaReadWriteLock();
    view.writeLock().lock();
    assertThat(view.writeLock().isHeldByCurrentThread()).isTrue();
    assertThat(view.readLock().isHeldByCurrentThread()).isFalse();
    assertThatThrownBy(view.readLock()::token).isInstanceOf(IllegalMonitorStateException.class);
    long token = view.writeLock().token();
    view.readLock().lock();
    view.writeLock().unlock();
    assertThat(view.readLock().token()).isEqualTo(token);
    assertThat(view.readLock().isValid()).isTrue();
    assertThat(view.writeLock().getHoldCount()).isZero();
    view.readLock().unlock();
  }

  @Test
  void p6_someoneGetsIn_lockWaitsForTheRelease() throws Exception {
    String lock = bench.lock("waits");
    Lock held = lockThere(lock).asJavaLock();
    held.lock();
    Running<Boolean> waiting =
        standInLine(
            () -> {
              Lock view = viewHere(lock);
              view.lock();
              view.unlock();
              return true;
            });
    assertThat(waiting.task().isDone()).isFalse();

    held.unlock();

    assertThat(waiting.result()).isTrue();
    assertComesFree(lock);
  }

  @Test
  void p6_someoneGetsIn_lockWaitsOnWhenInterruptedAndKeepsTheFlag() throws Exception {
    String lock = bench.lock("flag");
    Lock held = lockThere(lock).asJavaLock();
    held.lock();
    Running<Boolean> waiting =
        standInLine(
            () -> {
              Lock view = viewHere(lock);
              view.lock();
              boolean flagged = Thread.currentThread().isInterrupted();
              view.unlock();
              return flagged && Thread.currentThread().isInterrupted();
            });
    waiting.thread().interrupt();
    assertThat(waiting.task().isDone()).isFalse();

    held.unlock();

    assertThat(waiting.result()).isTrue();
    assertComesFree(lock);
  }

  @Test
  void p6_someoneGetsIn_lockInterruptiblyGivesUpAndLeavesNothingInLine() throws Exception {
    String lock = bench.lock("interruptibly");
    Lock held = lockThere(lock).asJavaLock();
    held.lock();
    Running<Boolean> waiting =
        standInLine(
            () -> {
              viewHere(lock).lockInterruptibly();
              return true;
            });

    waiting.thread().interrupt();

    assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
    held.unlock();
    assertComesFree(lock);
  }

  @Test
  void p6_someoneGetsIn_anInterruptedThreadDoesNotEvenReenterInterruptibly() throws Exception {
    Lock view = viewHere(bench.lock("interrupted"));
    Running<Boolean> interrupted =
        bench.start(
            () -> {
              Thread.currentThread().interrupt();
              view.lockInterruptibly();
              return true;
            });
    assertThatThrownBy(interrupted::result).isInstanceOf(InterruptedException.class);
    Running<Boolean> timed =
        bench.start(
            () -> {
              Thread.currentThread().interrupt();
              return view.tryLock(1, TimeUnit.SECONDS);
            });
    assertThatThrownBy(timed::result).isInstanceOf(InterruptedException.class);
  }

  @Test
  void p6_someoneGetsIn_tryLockDoesNotWaitForZeroOrLess() throws Exception {
    String lock = bench.lock("zero");
    Lock held = lockThere(lock).asJavaLock();
    held.lock();
    assertThat(viewHere(lock).tryLock(0, TimeUnit.SECONDS)).isFalse();
    assertThat(viewHere(lock).tryLock(-1, TimeUnit.SECONDS)).isFalse();
    assertThat(viewHere(lock).tryLock(Long.MIN_VALUE, TimeUnit.DAYS)).isFalse();
    held.unlock();
    assertThat(viewHere(lock).tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
  }

  @Test
  void p5_lossIsTold_atUnlockAndAtReentry() throws Exception {
    String lock = bench.lock("lost");
    Lock view = here.lock(lock, bench.shortLived()).asJavaLock();
    view.lock();
    view.lock();
    network.on(Verb.RENEW, Fault.LOSE_REQUEST);
    var next = lockThere(lock).tryAcquire(Bench.PATIENCE).orElseThrow();
    network.heal();

    assertThatThrownBy(view::lock).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(view::tryLock).isInstanceOf(LeaseLostException.class);
    view.unlock();
    assertThatThrownBy(view::unlock).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(view::unlock).isInstanceOf(IllegalMonitorStateException.class);

    assertThat(next.isValid()).isTrue();
    assertThat(view.tryLock()).isFalse();
    next.close();
    assertThat(view.tryLock()).isTrue();
    view.unlock();
  }

  @Test
  void conditionsAreUnsupported() {
    Lock view = viewHere(bench.lock("condition"));

    assertThatThrownBy(view::newCondition).isInstanceOf(UnsupportedOperationException.class);
  }

  /** Reentrancy is by thread also where threads are virtual; before Java 21 there are none. */
  @Test
  void p4_onlyTheOwner_virtualThreadsAreThreadsLikeOthers() throws Exception {
    String lock = bench.lock("virtual");
    Lock view = viewHere(lock);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Runnable work =
        () -> {
          view.lock();
          view.lock();
          most.accumulateAndGet(inside.incrementAndGet(), Math::max);
          Thread.yield();
          inside.decrementAndGet();
          view.unlock();
          view.unlock();
        };
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      threads.add(startVirtual(work));
    }
    for (Thread thread : threads) {
      thread.join(Bench.PATIENCE.toMillis());
      assertThat(thread.isAlive()).isFalse();
    }
    assertThat(most).hasValue(1);
    assertComesFree(lock);
  }

  private static Thread startVirtual(Runnable work) throws ReflectiveOperationException {
    if (Runtime.version().feature() < 21) {
      Thread thread = new Thread(work);
      thread.setDaemon(true);
      thread.start();
      return thread;
    }
    return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
  }
}

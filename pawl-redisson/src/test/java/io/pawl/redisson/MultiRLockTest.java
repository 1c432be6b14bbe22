package io.pawl.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class MultiRLockTest {

  /** That unlocks, and throws then, as where the store fails at a downgrade. */
  private static RLock failing(RLock lock) {
    return (RLock)
        Proxy.newProxyInstance(
            RLock.class.getClassLoader(),
            new Class<?>[] {RLock.class},
            (proxy, method, arguments) -> {
              try {
                Object result = method.invoke(lock, arguments);
                if (method.getName().equals("unlock")) {
                  throw new IllegalStateException("the store is away");
                }
                return result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /**
   * That cannot say whether it is held, as one of both releases where Redisson's server is away.
   */
  private static RLock silent(RLock lock) {
    return (RLock)
        Proxy.newProxyInstance(
            RLock.class.getClassLoader(),
            new Class<?>[] {RLock.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("isHeldByCurrentThread")) {
                throw new IllegalStateException("the server is away");
              }
              return method.invoke(lock, arguments);
            });
  }

  /** That is granted once {@code before} has happened, the first time. */
  private static RLock after(RLock lock, Runnable before) {
    AtomicBoolean first = new AtomicBoolean(true);
    return (RLock)
        Proxy.newProxyInstance(
            RLock.class.getClassLoader(),
            new Class<?>[] {RLock.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("lock") && first.getAndSet(false)) {
                before.run();
              }
              return method.invoke(lock, arguments);
            });
  }

  @Test
  void aLockThatIsLostWhileALaterOneIsWaitedForIsTakenAgain() {
    try (Pawl pawl = Pawl.connect("memory:")) {
      LockOptions options = LockOptions.defaults().lease(Duration.ofMillis(300));
      PawlRedisson redisson = PawlRedisson.over(pawl, options);
      RLock first = redisson.getLock("a");
      Runnable loseTheFirst =
          () -> {
            pawl.evict("a", pawl.inspect("a").holders().get(0).token());
            await().pollInSameThread().until(() -> !first.isHeldByCurrentThread());
          };
      RLock both = new MultiRLock(List.of(first, after(redisson.getLock("b"), loseTheFirst)));

      both.lock();

      assertThat(both.isHeldByCurrentThread()).isTrue();
      both.unlock();
    }
  }

  @Test
  void aLeaseTimeBeginsOnceTheLastLockIsTaken() {
    try (Pawl pawl = Pawl.connect("memory:")) {
      PawlRedisson redisson = PawlRedisson.over(pawl);
      RLock second = after(redisson.getLock("b"), () -> sleep(1_600));
      RLock both = new MultiRLock(List.of(redisson.getLock("a"), second));

      both.lock(2, TimeUnit.SECONDS);

      assertThat(remaining(pawl, "a")).isGreaterThan(Duration.ofSeconds(1));
      both.unlock();
    }
  }

  @Test
  void aReentryKeepsTheTimeOfTheFirstEntry() {
    try (Pawl pawl = Pawl.connect("memory:")) {
      PawlRedisson redisson = PawlRedisson.over(pawl);
      RLock first = redisson.getLock("a");
      RLock second = after(redisson.getLock("b"), () -> sleep(1_000));
      first.lock(4, TimeUnit.SECONDS);
      RLock both = new MultiRLock(List.of(first, second));

      both.lock(4, TimeUnit.SECONDS);

      assertThat(remaining(pawl, "a")).isLessThan(Duration.ofSeconds(3));
      both.unlock();
      first.unlock();
    }
  }

  private static void sleep(long millis) {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  /** Of the current thread's lease. */
  static Duration remaining(Pawl pawl, String lock) {
    return pawl.lock(lock).asJavaLock().remaining();
  }

  @Test
  void whateverAnUnlockThrowsTheOtherLocksAreUnlocked() {
    try (Pawl pawl = Pawl.connect("memory:")) {
      PawlRedisson redisson = PawlRedisson.over(pawl);
      RLock second = redisson.getLock("b");
      RLock both = new MultiRLock(List.of(failing(redisson.getLock("a")), second));
      both.lock();

      assertThatThrownBy(both::unlock).hasMessage("the store is away");

      assertThat(second.isLocked()).isFalse();
    }
  }

  @Test
  void whereALockIsBusyTheOthersAreLeftThoughOneCannotSayWhetherItIsHeld() {
    try (Pawl pawl = Pawl.connect("memory:shared");
        Pawl elsewhere = Pawl.connect("memory:shared")) {
      PawlRedisson redisson = PawlRedisson.over(pawl);
      RLock busy = PawlRedisson.over(elsewhere).getLock("c");
      busy.lock();
      RLock first = redisson.getLock("a");
      RLock second = redisson.getLock("b");
      RLock all = new MultiRLock(List.of(silent(first), second, redisson.getLock("c")));

      assertThat(all.tryLock()).isFalse();

      assertThat(first.isLocked()).isFalse();
      assertThat(second.isLocked()).isFalse();
      busy.unlock();
    }
  }

  @Test
  void whoIsNotToldThatAllAreHeldHoldsNone() {
    try (Pawl pawl = Pawl.connect("memory:")) {
      PawlRedisson redisson = PawlRedisson.over(pawl);
      RLock first = redisson.getLock("a");
      RLock second = redisson.getLock("b");
      RLock both = new MultiRLock(List.of(first, silent(second)));

      assertThatThrownBy(both::lock).hasMessage("the server is away");

      assertThat(first.isLocked()).isFalse();
      assertThat(second.isLocked()).isFalse();
    }
  }

  private static RLock noted(RLock lock, List<String> taken) {
    return after(lock, () -> taken.add(lock.getName()));
  }

  @Test
  void locksOfAMultiLockWithinAnotherAreTakenInTheOrderOfAll() {
    try (Pawl pawl = Pawl.connect("memory:")) {
      PawlRedisson redisson = PawlRedisson.over(pawl);
      List<String> taken = new ArrayList<>();
      RLock a = noted(redisson.getLock("a"), taken);
      RLock b = noted(redisson.getLock("b"), taken);
      RLock c = noted(redisson.getLock("c"), taken);
      RLock all = redisson.getMultiLock(redisson.getMultiLock(a, c), b);

      all.lock();

      assertThat(taken).containsExactly("a", "b", "c"); // or one of b and c waits for us
      all.unlock();
      assertThat(a.isLocked() || b.isLocked() || c.isLocked()).isFalse();
    }
  }

  @Test
  void locksOfOneNameInTwoStoresAreTakenInOneOrderHoweverTheyAreGiven() {
    try (Pawl one = Pawl.connect("memory:multi-one");
        Pawl two = Pawl.connect("memory:multi-two");
        Pawl othersInOne = Pawl.connect("memory:multi-one");
        Pawl othersInTwo = Pawl.connect("memory:multi-two");
        Lease busyInOne = othersInOne.lock("x").acquireUninterruptibly();
        Lease busyInTwo = othersInTwo.lock("x").acquireUninterruptibly()) {
      RLock first = PawlRedisson.over(one).getLock("x");
      RLock second = PawlRedisson.over(two).getLock("x");

      assertThat(waitsInOneFirst(new MultiRLock(List.of(first, second)), one, two))
          .isEqualTo(waitsInOneFirst(new MultiRLock(List.of(second, first)), one, two));
    }
  }

  private static boolean waitsInOneFirst(RLock both, Pawl one, Pawl two) {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    Thread waiting =
        new Thread(
            () -> {
              try {
                both.lockInterruptibly();
              } catch (InterruptedException e) {
                ended.complete(null);
              }
            });
    waiting.start();
    await().until(() -> isWaitedFor(one) || isWaitedFor(two));
    boolean inOne = isWaitedFor(one);
    waiting.interrupt();
    ended.orTimeout(10, TimeUnit.SECONDS).join();
    return inOne;
  }

  private static boolean isWaitedFor(Pawl pawl) {
    return !pawl.inspect("x").waiters().isEmpty();
  }
}

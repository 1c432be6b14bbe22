package io.pawl.redisson;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Pawl;
import io.pawl.counter.Update;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What users of Redisson's semaphores, numbers and multi-locks rely on. */
abstract class RObjectCases {

  private static final LockOptions OPTIONS = LockOptions.defaults().lease(Duration.ofSeconds(2));
  private static final AtomicInteger names = new AtomicInteger();
  private static final Executor OWN_THREAD = task -> new Thread(task).start();

  private final AtomicInteger losses = new AtomicInteger();
  private final Pawl here;
  private final Pawl there;
  private final PawlRedisson redisson;
  private final PawlRedisson elsewhere;
  private final String name = "object-" + names.incrementAndGet();

  RObjectCases(String url) {
    here =
        Pawl.connect(
            url,
            PawlOptions.defaults()
                .observer(
                    new LockObserver() {
                      @Override
                      public void lost(String lock, long token, String why) {
                        losses.incrementAndGet();
                      }
                    }));
    there = Pawl.connect(url);
    redisson = PawlRedisson.over(here, OPTIONS);
    elsewhere = PawlRedisson.over(there, OPTIONS);
  }

  @AfterEach
  void close() {
    here.close(Duration.ZERO); // some cases leave permits held
    there.close(Duration.ZERO);
  }

  private static <T> T onAnotherThread(Callable<T> body) {
    return CompletableFuture.supplyAsync(
            () -> {
              try {
                return body.call();
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            },
            OWN_THREAD)
        .join();
  }

  @Test
  void permitsAreSetOnceForAllProcesses() throws InterruptedException {
    RSemaphore semaphore = redisson.getSemaphore(name);
    assertThat(semaphore.availablePermits()).isZero();
    assertThatThrownBy(semaphore::tryAcquire)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("trySetPermits");

    assertThat(semaphore.trySetPermits(3)).isTrue();
    assertThat(elsewhere.getSemaphore(name).trySetPermits(5)).isFalse();

    assertThat(elsewhere.getSemaphore(name).availablePermits()).isEqualTo(3);
    semaphore.acquire();
    assertThat(elsewhere.getSemaphore(name).availablePermits()).isEqualTo(2);
  }

  @Test
  void noMorePermitsAreOutThanThereAre() throws InterruptedException {
    RSemaphore semaphore = redisson.getSemaphore(name);
    RSemaphore other = elsewhere.getSemaphore(name);
    semaphore.trySetPermits(3);
    semaphore.acquire(2);

    assertThat(other.tryAcquire(2)).isFalse();
    assertThat(other.tryAcquire(2, 50, MILLISECONDS)).isFalse();
    assertThat(other.tryAcquire()).isTrue();
    assertThat(other.tryAcquire(0, SECONDS)).isFalse();
    assertThat(other.tryAcquire(Duration.ofMillis(50))).isFalse();
    assertThat(other.tryAcquire(2, Duration.ZERO)).isFalse();
    assertThatThrownBy(() -> other.tryAcquire(4)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anyThreadOfTheProcessReleasesAndAWaiterElsewhereGetsIn() throws Exception {
    RSemaphore semaphore = redisson.getSemaphore(name);
    semaphore.trySetPermits(1);
    semaphore.acquire();
    CompletableFuture<Boolean> waiting =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return elsewhere.getSemaphore(name).tryAcquire(1, 60, SECONDS);
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            },
            OWN_THREAD);

    onAnotherThread(
        () -> {
          redisson.getSemaphore(name).release();
          return true;
        });

    assertThat(waiting.get(1, MINUTES)).isTrue();
  }

  @Test
  void permitsOfAnotherProcessAreNotReleased() throws InterruptedException {
    RSemaphore semaphore = redisson.getSemaphore(name);
    semaphore.trySetPermits(2);
    semaphore.acquire();

    assertThatThrownBy(() -> elsewhere.getSemaphore(name).release())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("this process has no permits");
    assertThat(semaphore.availablePermits()).isEqualTo(1);
  }

  @Test
  void permitsAcquiredTogetherAreReleasedTogether() throws InterruptedException {
    RSemaphore semaphore = redisson.getSemaphore(name);
    semaphore.trySetPermits(6);
    semaphore.acquire(3);
    semaphore.acquire();
    semaphore.acquire();

    semaphore.release(2);
    assertThat(semaphore.availablePermits()).isEqualTo(3);
    assertThatThrownBy(semaphore::release).isInstanceOf(IllegalStateException.class);
    semaphore.release(3);
    assertThat(semaphore.availablePermits()).isEqualTo(6);
  }

  @Test
  void aCapacityThatChangedIsFollowed() throws InterruptedException {
    RSemaphore semaphore = redisson.getSemaphore(name);
    semaphore.trySetPermits(1);
    semaphore.acquire();
    there.semaphore(name, 1).changeCapacity(2);

    assertThat(semaphore.tryAcquire()).isTrue();
    semaphore.release();
    semaphore.release();
  }

  @Test
  void morePermitsThanThereWereMayBeTakenOnceThereAreMore() {
    RSemaphore semaphore = redisson.getSemaphore(name);
    semaphore.trySetPermits(1);
    there.semaphore(name, 1).changeCapacity(5);

    assertThat(semaphore.tryAcquire(5)).isTrue();
    semaphore.release(5);
    assertThatThrownBy(() -> semaphore.tryAcquire(6)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aReleaseTellsOfAPermitThatWasLost() throws InterruptedException {
    RSemaphore semaphore = redisson.getSemaphore(name);
    semaphore.trySetPermits(1);
    semaphore.acquire();
    here.evict(name, here.inspect(name).holders().get(0).token());
    assertThat(elsewhere.getSemaphore(name).tryAcquire(10, SECONDS)).isTrue();
    await().until(() -> here.oldestRenewal().isEmpty()); // it has heard of it

    assertThatThrownBy(semaphore::release).isInstanceOf(LeaseLostException.class);
  }

  @Test
  void aPermitThatWasLostIsGivenUpBeforeOneThatIsHeldStill() throws InterruptedException {
    RSemaphore semaphore = redisson.getSemaphore(name);
    semaphore.trySetPermits(2);
    semaphore.acquire();
    long first = here.inspect(name).holders().get(0).token();
    semaphore.acquire();
    here.evict(name, first);
    assertThat(elsewhere.getSemaphore(name).tryAcquire(10, SECONDS)).isTrue();
    await().until(() -> here.inspect(name).holders().size() == 2);
    await().until(() -> losses.get() == 1);

    assertThatThrownBy(semaphore::release).isInstanceOf(LeaseLostException.class);
    assertThat(elsewhere.getSemaphore(name).tryAcquire()).isFalse();
    semaphore.release();
    assertThat(elsewhere.getSemaphore(name).tryAcquire(10, SECONDS)).isTrue();
  }

  @Test
  void aPermitIsReleasedByItsIdHereAndElsewhere() throws InterruptedException {
    RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore(name);
    RPermitExpirableSemaphore other = elsewhere.getPermitExpirableSemaphore(name);
    assertThat(semaphore.trySetPermits(2)).isTrue();
    String first = semaphore.acquire();
    String second = Objects.requireNonNull(other.tryAcquire(1, SECONDS));
    assertThat(semaphore.tryAcquire()).isNull();
    assertThat(first).isNotEqualTo(second);

    semaphore.release(first);
    assertThat(semaphore.tryRelease(second)).isTrue();

    assertThat(semaphore.availablePermits()).isEqualTo(2);
    assertThat(semaphore.tryRelease(first)).isFalse();
    assertThat(semaphore.tryRelease("no token")).isFalse();
    assertThatThrownBy(() -> semaphore.release(first)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anIdThatWasReleasedEndsNobodyElsesPermit() throws Exception {
    LockOptions passing = OPTIONS.localPassing(60, Duration.ofSeconds(1));
    RPermitExpirableSemaphore semaphore =
        PawlRedisson.over(here, passing).getPermitExpirableSemaphore(name);
    semaphore.trySetPermits(1);
    String first = semaphore.acquire();
    BlockingQueue<String> ids = new LinkedBlockingQueue<>();
    List<Thread> waiting =
        IntStream.range(0, 2)
            .mapToObj(
                i ->
                    new Thread(
                        () -> {
                          try {
                            ids.add(semaphore.acquire());
                          } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                          }
                        }))
            .toList();
    waiting.forEach(Thread::start);
    await().until(() -> waiting.stream().allMatch(t -> t.getState().name().endsWith("WAITING")));
    semaphore.release(first);
    String over = Objects.requireNonNull(ids.poll(1, MINUTES));
    semaphore.release(over);
    String held = Objects.requireNonNull(ids.poll(1, MINUTES));

    assertThat(elsewhere.getPermitExpirableSemaphore(name).tryRelease(over)).isFalse();
    assertThat(semaphore.tryRelease(over)).isFalse();
    assertThat(elsewhere.getPermitExpirableSemaphore(name).tryAcquire()).isNull();
    assertThat(semaphore.tryRelease(held)).isTrue();
  }

  @Test
  void aPermitWithALeaseTimeEndsAfterIt() throws InterruptedException {
    RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore(name);
    semaphore.trySetPermits(1);
    String permit = semaphore.acquire(200, MILLISECONDS);

    String next = elsewhere.getPermitExpirableSemaphore(name).acquire();

    assertThat(semaphore.tryRelease(permit)).isFalse();
    assertThat(semaphore.tryAcquire(0, 200, MILLISECONDS)).isNull();
    elsewhere.getPermitExpirableSemaphore(name).release(next);
  }

  @Test
  void aNumberCountsWhatAllProcessesAdd() {
    RAtomicLong number = redisson.getAtomicLong(name);
    RAtomicLong other = elsewhere.getAtomicLong(name);
    assertThat(number.get()).isZero();
    assertThat(number.incrementAndGet()).isEqualTo(1);
    assertThat(other.getAndAdd(10)).isEqualTo(1);
    assertThat(number.addAndGet(0)).isEqualTo(11);
    assertThat(number.getAndIncrement()).isEqualTo(11);
    assertThat(other.getAndDecrement()).isEqualTo(12);
    assertThat(other.decrementAndGet()).isEqualTo(10);
    assertThat(number.compareAndSet(9, 1)).isFalse();
    assertThat(number.compareAndSet(10, 20)).isTrue();
    assertThat(other.getAndSet(30)).isEqualTo(20);
    number.set(40);
    assertThat(other.get()).isEqualTo(40);

    List<CompletableFuture<Long>> adding =
        IntStream.range(0, 20)
            .mapToObj(
                i ->
                    CompletableFuture.supplyAsync(
                        (i % 2 == 0 ? number : other)::incrementAndGet, OWN_THREAD))
            .toList();
    assertThat(adding.stream().map(CompletableFuture::join)).doesNotHaveDuplicates();
    assertThat(number.get()).isEqualTo(60);
  }

  @Test
  void aNumberFallsBelowZeroOnlyWhereItsBoundsSaySo() {
    RAtomicLong number = redisson.getAtomicLong(name);
    assertThatThrownBy(number::decrementAndGet)
        .isInstanceOf(ArithmeticException.class)
        .hasMessageContaining("Update.bounds");
    assertThatThrownBy(() -> number.set(-1)).isInstanceOf(ArithmeticException.class);
    assertThatThrownBy(() -> number.compareAndSet(0, -1)).isInstanceOf(ArithmeticException.class);
    assertThat(number.get()).isZero();

    here.counter(name).update(Update.bounds(-100, 100));
    assertThat(number.decrementAndGet()).isEqualTo(-1);
  }

  private boolean isFree(String lock) {
    return !there.inspect(lock).isHeld();
  }

  @Test
  void aMultiLockTakesAllOfItsLocksOrNone() throws InterruptedException {
    String a = name + "-a";
    String b = name + "-b";
    RLock both = redisson.getMultiLock(redisson.getLock(b), redisson.getLock(a));
    both.lock();
    assertThat(both.isHeldByCurrentThread()).isTrue();
    assertThat(redisson.getLock(a).isHeldByCurrentThread()).isTrue();
    assertThat(elsewhere.getLock(b).tryLock()).isFalse();
    both.unlock();
    assertThat(isFree(a) && isFree(b)).isTrue();

    RLock theirs = elsewhere.getLock(b);
    theirs.lock();
    assertThat(both.tryLock()).isFalse();
    assertThat(both.tryLock(50, 1_000, MILLISECONDS)).isFalse();
    assertThat(isFree(a)).isTrue();
    assertThat(both.isLocked()).isTrue();
    theirs.unlock();
    assertThat(both.tryLock(1, 10, SECONDS)).isTrue();
    both.unlock();
    assertThatThrownBy(both::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  @Test
  void multiLocksInOppositeOrdersDoNotWaitForEachOther() {
    List<CompletableFuture<Void>> users =
        IntStream.range(0, 8)
            .mapToObj(
                i ->
                    CompletableFuture.runAsync(
                        () -> {
                          PawlRedisson client = i % 2 == 0 ? redisson : elsewhere;
                          RLock first = client.getLock(name + "-a");
                          RLock second = client.getLock(name + "-b");
                          RLock both =
                              i < 4
                                  ? client.getMultiLock(first, second)
                                  : client.getMultiLock(second, first);
                          both.lock();
                          both.unlock();
                        },
                        OWN_THREAD))
            .toList();
    users.forEach(user -> user.orTimeout(1, MINUTES).join());
  }

  @Test
  void aMultiLockWhoseLockRanOutSaysSoAndUnlocksTheRest() throws InterruptedException {
    String a = name + "-a";
    String b = name + "-b";
    RLock both = redisson.getMultiLock(redisson.getLock(a), redisson.getLock(b));
    both.lock();
    here.evict(a, here.inspect(a).holders().get(0).token());
    elsewhere.getLock(a).lock();
    await().pollInSameThread().until(() -> !redisson.getLock(a).isHeldByCurrentThread());

    assertThatThrownBy(both::unlock).isInstanceOf(IllegalMonitorStateException.class);
    assertThat(isFree(b)).isTrue();
  }
}

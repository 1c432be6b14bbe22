package io.pawl.redis.transition;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.pawl.JavaLock;
import io.pawl.Pawl;
import io.pawl.concurrent.BothLocks;
import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.spi.Claim;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * For the release in between, where the release before has its locks in plain keys, {@code SET key
 * value NX PX}: takes Pawl's lock and the key, both or none. Deploy it everywhere first, and a
 * release with Pawl alone after it. Each release then shares a lock with the one before.
 *
 * <p>The key is renewed every third of its time while its thread holds it and lives, and deleted
 * only while it has this process's value. Waiting for a key asks Redis every 50 ms, as nothing
 * tells of its end; only one thread of all processes of this release does, the one that has Pawl's
 * lock. Thread-safe.
 */
public final class TransitionKeys implements AutoCloseable {

  private static final long POLL_MILLIS = 50;

  /** Renewals of one key: as many as are due in its time. */
  private static final int MOST_UNANSWERED = 3;

  /** Sent again by Lettuce, on a connection that it opened anew, it answers as the first time. */
  private static final String TAKE =
      "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])"
          + " or redis.pcall('GET', KEYS[1]) == ARGV[1] then return 1 else return 0 end";

  private static final String RENEW =
      "if redis.call('GET', KEYS[1]) == ARGV[1] then"
          + " return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end";

  private static final String DELETE =
      "if redis.call('GET', KEYS[1]) == ARGV[1] then"
          + " return redis.call('DEL', KEYS[1]) else return 0 end";

  private static final Logger log = LoggerFactory.getLogger(TransitionKeys.class);

  private final Pawl pawl;
  private final StatefulRedisConnection<String, String> redis;
  private final long keyMillis;
  private final Map<String, HeldKey> held = new ConcurrentHashMap<>();
  private final ScheduledThreadPoolExecutor renewals =
      new ScheduledThreadPoolExecutor(1, task -> DaemonThreads.named("pawl-transition", task));

  private TransitionKeys(
      Pawl pawl, StatefulRedisConnection<String, String> redis, Duration keyTime) {
    this.pawl = Objects.requireNonNull(pawl, "pawl");
    this.redis = Objects.requireNonNull(redis, "redis");
    this.keyMillis = Claim.checkLease(keyTime).toMillis();
    renewals.setRemoveOnCancelPolicy(true);
  }

  /**
   * @param old to the Redis of the keys; stays the caller's
   * @param keyTime how long a key lasts unless it is renewed: 100 ms to 7 days
   */
  public static TransitionKeys over(
      Pawl pawl, StatefulRedisConnection<String, String> old, Duration keyTime) {
    return new TransitionKeys(pawl, old, keyTime);
  }

  /**
   * Returns both as one lock of its thread, reentrant, without conditions. {@code unlock} throws
   * {@link IllegalMonitorStateException} where the key was lost: it ran out, or another deleted it.
   * So does a re-entry once that is known.
   *
   * @param name of Pawl's lock
   * @param key that the release before sets for it; the same for every call with this name
   */
  public Lock getLock(String name, String key) {
    JavaLock ours = pawl.lock(name).asJavaLock();
    return new BothLocks(
        ours, new KeyLock(key), () -> ours.isHeldByCurrentThread() && ours.isValid());
  }

  /** Ends renewal: keys that are held still run out, and no further ones are taken. */
  @Override
  public void close() {
    renewals.shutdownNow();
  }

  /** How many keys are renewed now. */
  long renewed() {
    return held.values().stream().filter(HeldKey::isRenewed).count();
  }

  /** A key that a thread has set; changed by that thread alone, but for its renewal and loss. */
  private static final class HeldKey {
    private final String key;
    private final Thread owner = Thread.currentThread();
    private final String value = UUID.randomUUID().toString();
    private final AtomicInteger unanswered = new AtomicInteger();
    private int count = 1;
    private volatile boolean lost;
    private volatile @Nullable ScheduledFuture<?> renewal;

    HeldKey(String key) {
      this.key = key;
    }

    boolean isRenewed() {
      ScheduledFuture<?> running = renewal;
      return running != null && !running.isDone();
    }

    void endRenewal() {
      ScheduledFuture<?> running = renewal;
      if (running != null) {
        running.cancel(false);
      }
    }

    IllegalMonitorStateException lostException() {
      return new IllegalMonitorStateException(
          "key '" + key + "' was lost before; what it protected may have been changed by another");
    }
  }

  /** Waits for no answer: meanwhile others' keys are due. */
  private void renew(HeldKey mine) {
    if (!mine.owner.isAlive()) {
      mine.endRenewal();
      held.remove(mine.key, mine);
      log.warn("key '{}' runs out: thread {} ended without unlock", mine.key, mine.owner.getName());
      return;
    }
    if (mine.unanswered.get() >= MOST_UNANSWERED) {
      return;
    }
    mine.unanswered.incrementAndGet();
    RedisFuture<Long> asked;
    ScheduledFuture<?> patience;
    try {
      asked = ask(RENEW, mine.key, mine.value, Long.toString(keyMillis));
      patience = renewals.schedule(() -> asked.cancel(true), patienceNanos(), NANOSECONDS);
    } catch (RuntimeException e) { // of Redis, or this is closed, and the next one never comes
      renewed(mine, null, e);
      return;
    }
    asked.whenComplete(
        (done, error) -> {
          patience.cancel(false);
          renewed(mine, done, error instanceof CancellationException ? noAnswer() : error);
        });
  }

  private void renewed(HeldKey mine, @Nullable Long done, @Nullable Throwable error) {
    mine.unanswered.decrementAndGet();
    if (!mine.isRenewed() || renewals.isShutdown()) { // it has been unlocked meanwhile, say
      return;
    }
    if (error != null) {
      log.warn("key '{}' was not renewed; it is tried again", mine.key, error);
    } else if (done == null || done == 0) {
      mine.lost = true;
      mine.endRenewal();
      log.warn("key '{}' of the release before was lost while it was held", mine.key);
    }
  }

  private RedisFuture<Long> ask(String script, String key, String... arguments) {
    return redis.async().eval(script, ScriptOutputType.INTEGER, new String[] {key}, arguments);
  }

  /** Whether what {@code script} is for was done. */
  private boolean isDone(String script, String key, String value) {
    Long done = answer(ask(script, key, value, Long.toString(keyMillis)));
    return done != null && done > 0;
  }

  /**
   * Says whether it was there. That is told by a renewal before: of a deletion Lettuce may send a
   * second copy, which finds nothing.
   */
  private boolean delete(String key, String value) {
    boolean found;
    try {
      found = isDone(RENEW, key, value);
    } catch (RuntimeException e) {
      deleteUnheard(key, value, e);
      throw e;
    }
    if (found) {
      answer(ask(DELETE, key, value));
    }
    return found;
  }

  private void deleteUnheard(String key, String value, RuntimeException why) {
    try {
      ask(DELETE, key, value);
    } catch (RuntimeException e) {
      why.addSuppressed(e);
    }
  }

  private long patienceNanos() {
    Duration timeout = redis.getTimeout();
    return timeout.isZero() ? Long.MAX_VALUE : timeout.toNanos(); // as Lettuce has it
  }

  private RedisCommandTimeoutException noAnswer() {
    return new RedisCommandTimeoutException("no answer of Redis within " + redis.getTimeout());
  }

  /** An interrupt comes later: a command that is cut short may leave a key that nobody deletes. */
  private <T> @Nullable T answer(RedisFuture<T> asked) {
    try {
      return Uninterruptibly.get(asked.toCompletableFuture(), patienceNanos());
    } catch (TimeoutException e) {
      asked.cancel(true); // what was not sent yet is not sent
      throw noAnswer();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException known ? known : new RedisException(e);
    }
  }

  /** The key alone, where Pawl's lock keeps the other threads of this release away. */
  private final class KeyLock implements Lock {

    private final String key;

    KeyLock(String key) {
      this.key = Objects.requireNonNull(key, "key");
    }

    private @Nullable HeldKey mine() {
      HeldKey known = held.get(key);
      return known != null && known.owner == Thread.currentThread() ? known : null;
    }

    @Override
    public boolean tryLock() {
      HeldKey again = mine();
      if (again != null) {
        if (again.lost) {
          throw again.lostException();
        }
        again.count++;
        return true;
      }
      HeldKey taken = new HeldKey(key);
      long asked = System.nanoTime();
      if (!isDone(TAKE, key, taken.value)) {
        return false;
      }
      long old = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - asked);
      long third = keyMillis / 3;
      if (old >= 2 * third) { // it may have run out before a renewal comes
        delete(key, taken.value);
        return false;
      }
      held.put(key, taken);
      try {
        taken.renewal =
            renewals.scheduleAtFixedRate(
                () -> renew(taken), Math.max(0, third - old), third, TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException e) {
        held.remove(key, taken);
        delete(key, taken.value);
        throw new IllegalStateException("these keys are closed; key '" + key + "' is not taken", e);
      }
      return true;
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
      long until = System.nanoTime() + unit.toNanos(time);
      while (!tryLock()) {
        long left = until - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        TimeUnit.NANOSECONDS.sleep(Math.min(left, TimeUnit.MILLISECONDS.toNanos(POLL_MILLIS)));
      }
      return true;
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
      while (!tryLock()) {
        Thread.sleep(POLL_MILLIS);
      }
    }

    @Override
    public void lock() {
      boolean interrupted = false;
      while (true) {
        try {
          lockInterruptibly();
          break;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void unlock() {
      HeldKey left = mine();
      if (left == null) {
        throw new IllegalMonitorStateException("this thread does not hold key '" + key + "'");
      }
      if (--left.count > 0) {
        return;
      }
      left.endRenewal();
      held.remove(key, left);
      if (!delete(key, left.value)) { // which tells: a value is set once
        throw left.lostException();
      }
    }

    @Override
    public Condition newCondition() {
      throw new UnsupportedOperationException("a distributed lock has no conditions");
    }
  }
}

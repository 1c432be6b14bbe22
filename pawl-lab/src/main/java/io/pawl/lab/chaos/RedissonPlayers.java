package io.pawl.lab.chaos;

import io.pawl.checker.Share;
import io.pawl.lab.chaos.Notebook.End;
import io.pawl.lab.chaos.Notebook.Line;
import io.pawl.lab.chaos.Notebook.Page;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.Config;

/**
 * One turn of each shape in which users of Redisson use its locks, as {@link Players} is for Pawl.
 * Its locks know of no loss and of no validity: whoever has one asks Redis whether it has it still.
 */
final class RedissonPlayers implements AutoCloseable {

  /** Those that have fencing tokens, and so can be judged as Pawl's are. */
  static final List<Subject> SUBJECTS = List.of(Subject.DEFAULT, Subject.STRICT, Subject.ASYNC);

  private static final int LONG_ONE_IN = 12;
  private static final int RENEWED_ONE_IN = 40;
  private static final Duration PROBE = Duration.ofSeconds(10);

  private final RedissonClient client;
  private final Referee referee;
  private final Notebook notebook;
  private final long leaseMillis;

  RedissonPlayers(String address, Referee referee, Notebook notebook, long leaseMillis) {
    this.client = client(address, leaseMillis);
    this.referee = referee;
    this.notebook = notebook;
    this.leaseMillis = leaseMillis;
  }

  private static RedissonClient client(String address, long leaseMillis) {
    Config config = new Config();
    config.setLockWatchdogTimeout(leaseMillis);
    config.useSingleServer().setAddress(address);
    return Redisson.create(config);
  }

  private interface Request {
    /** Null where it is busy. */
    @Nullable Long token(RFencedLock lock) throws InterruptedException;
  }

  void acquire(Subject subject, Random random) {
    turn(subject, Shape.ACQUIRE, random, RFencedLock::lockAndGetToken);
  }

  void tryFor(Subject subject, Random random) {
    long wait = 1 + random.nextInt(300);
    turn(subject, Shape.TRY, random, lock -> lock.tryLockAndGetToken(wait, TimeUnit.MILLISECONDS));
  }

  void interrupted(Subject subject, Random random, Interrupter interrupter) {
    turn(
        subject,
        Shape.INTERRUPTED,
        random,
        lock -> {
          interrupter.aim(Thread.currentThread());
          try {
            lock.lockInterruptibly();
          } finally {
            interrupter.leave();
          }
          Thread.interrupted(); // one that came with the lock
          return lock.getToken();
        });
    Thread.interrupted();
  }

  private void turn(Subject subject, Shape shape, Random random, Request request) {
    Page page = notebook.ask(subject, Share.EXCLUSIVE, shape);
    RFencedLock lock = client.getFencedLock(subject.lock());
    Long token;
    try {
      token = request.token(lock);
    } catch (InterruptedException | RedisException e) {
      token = null;
    }
    if (token == null) {
      page.ended(End.NOT_GRANTED);
      return;
    }
    page.granted(token);
    new Visit(referee, page, () -> isHeld(lock)).stay(stay(random));
    page.set(Line.CLOSE_BEGAN, System.nanoTime());
    page.ended(unlock(lock));
  }

  private long stay(Random random) {
    int roll = random.nextInt(RENEWED_ONE_IN);
    long longest = roll == 0 ? 2 * leaseMillis : roll % LONG_ONE_IN == 0 ? 60 : 5;
    return 1 + random.nextInt((int) longest);
  }

  private static boolean isHeld(RFencedLock lock) {
    try {
      return lock.isHeldByCurrentThread();
    } catch (RedisException e) {
      return false;
    }
  }

  private static End unlock(RFencedLock lock) {
    try {
      lock.unlock();
      return End.RELEASED;
    } catch (IllegalMonitorStateException e) {
      return End.LOST;
    } catch (RedisException e) {
      return End.UNCONFIRMED;
    }
  }

  /** Whether each lock can be had now that all who used them are gone. */
  static List<String> probe(String address, long leaseMillis) throws InterruptedException {
    List<String> stuck = new ArrayList<>();
    RedissonClient client = client(address, leaseMillis);
    try {
      for (Subject subject : SUBJECTS) {
        RFencedLock lock = client.getFencedLock(subject.lock());
        if (lock.tryLock(PROBE.toMillis(), TimeUnit.MILLISECONDS)) {
          lock.unlock();
        } else {
          stuck.add(subject.lock() + " was not free " + PROBE + " after the last worker had ended");
        }
      }
    } finally {
      client.shutdown();
    }
    return stuck;
  }

  @Override
  public void close() {
    client.shutdown();
  }
}

package io.pawl.servers;

import io.pawl.servers.FaultProxy.AfterDrop;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The faults in force on one proxy; each change wakes the pumps that wait for it. */
final class Faults {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<Direction, Flow> flows = new EnumMap<>(Direction.class);
  private boolean cut;
  private boolean closed;
  private boolean dropPushes;
  private int repliesToDrop;
  private String lastOfReply = "";
  private AfterDrop afterDrop = AfterDrop.RESET;
  private Set<String> requestsToDrop = Set.of();
  private int droppedReplies;
  private final AtomicInteger trips = new AtomicInteger();
  private final AtomicInteger requests = new AtomicInteger();
  private int droppedPushes;

  /** What holds for one direction; 0 bytes per second are as many as there are. */
  private record Flow(long delayNanos, long bytesPerSecond, boolean blackHole) {
    static final Flow FREE = new Flow(0, 0, false);
  }

  Faults() {
    free();
  }

  void delay(Direction direction, Duration delay) {
    if (delay.isNegative()) {
      throw new IllegalArgumentException("a delay of " + delay);
    }
    change(
        () -> {
          Flow now = flow(direction);
          flows.put(direction, new Flow(delay.toNanos(), now.bytesPerSecond, now.blackHole));
        });
  }

  void throttle(Direction direction, long bytesPerSecond) {
    if (bytesPerSecond < 1) {
      throw new IllegalArgumentException(bytesPerSecond + " bytes per second");
    }
    change(
        () -> {
          Flow now = flow(direction);
          flows.put(direction, new Flow(now.delayNanos, bytesPerSecond, now.blackHole));
        });
  }

  void blackHole(Direction direction) {
    change(
        () -> {
          Flow now = flow(direction);
          flows.put(direction, new Flow(now.delayNanos, now.bytesPerSecond, true));
        });
  }

  void cut() {
    change(() -> cut = true);
  }

  void dropPushes() {
    change(() -> dropPushes = true);
  }

  /**
   * @param last what each must contain, of which it passes with all before it
   */
  void dropReplies(int n, String last, AfterDrop then, String... requests) {
    if (n < 1) {
      throw new IllegalArgumentException(n + " replies");
    }
    change(
        () -> {
          repliesToDrop = n;
          lastOfReply = last;
          afterDrop = then;
          requestsToDrop =
              Stream.of(requests)
                  .map(request -> request.toUpperCase(Locale.ROOT))
                  .collect(Collectors.toUnmodifiableSet());
        });
  }

  /** Ends every fault. */
  void heal() {
    change(this::free);
  }

  /** Ends every wait for good. */
  void close() {
    change(() -> closed = true);
  }

  private void free() {
    flows.put(Direction.TO_SERVER, Flow.FREE);
    flows.put(Direction.TO_CLIENT, Flow.FREE);
    cut = false;
    dropPushes = false;
    repliesToDrop = 0;
  }

  long delayNanos(Direction direction) {
    return read(() -> flow(direction).delayNanos);
  }

  long bytesPerSecond(Direction direction) {
    return read(() -> flow(direction).bytesPerSecond);
  }

  boolean isBlackHole(Direction direction) {
    return read(() -> flow(direction).blackHole);
  }

  void noteRequest() {
    requests.incrementAndGet();
  }

  int requests() {
    return requests.get();
  }

  void noteTrip() {
    trips.incrementAndGet();
  }

  int trips() {
    return trips.get();
  }

  /** What a reply that is dropped must contain, of which it passes with all before it. */
  String lastOfReply() {
    return read(() -> lastOfReply);
  }

  int droppedReplies() {
    return read(() -> droppedReplies);
  }

  int droppedPushes() {
    return read(() -> droppedPushes);
  }

  /** Whether the push that just came is to be dropped. */
  boolean takesPush() {
    lock.lock();
    try {
      droppedPushes += dropPushes ? 1 : 0;
      return dropPushes;
    } finally {
      lock.unlock();
    }
  }

  /** What to do with the reply that just came, to the request that {@code answers} knows. */
  @Nullable AfterDrop takesReply(Predicate<String> answers) {
    lock.lock();
    try {
      if (repliesToDrop == 0
          || !(requestsToDrop.isEmpty() || requestsToDrop.stream().anyMatch(answers))) {
        return null;
      }
      repliesToDrop--;
      droppedReplies++;
      return afterDrop;
    } finally {
      lock.unlock();
    }
  }

  /** Returns when the line is whole, at once unless it is cut. */
  void awaitWhole() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (cut && !closed) {
        changed.await();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns after {@code nanos}, or sooner when a fault begins or ends. */
  void pause(long nanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      if (!closed) {
        changed.await(nanos, TimeUnit.NANOSECONDS);
      }
    } finally {
      lock.unlock();
    }
  }

  private Flow flow(Direction direction) {
    return flows.getOrDefault(direction, Flow.FREE);
  }

  private void change(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private <T> T read(Supplier<T> value) {
    lock.lock();
    try {
      return value.get();
    } finally {
      lock.unlock();
    }
  }
}

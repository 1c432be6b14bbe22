package io.pawl;

import io.pawl.SimulatedProcess.Context;
import io.pawl.concurrent.Workers;
import io.pawl.counter.Outcome;
import io.pawl.engine.Engine;
import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One world made from one seed: clients with drifting clocks and bad connections use a few locks of
 * one store, first with faults, then without; at last all close.
 */
final class Simulation {

  /** How a world ended. */
  record Outcome(@Nullable String violation, long traceHash, long events, int leases, int losses) {}

  /** In leases. */
  static final int LONGEST_MIN_HOLD = 2;

  /** For how long a store may be silent at the end of a wait. */
  static final long ANSWER_NANOS = 500_000_000;

  private static final int ROUNDS_OF_TRIES = 4;

  private static final long MILLI = 1_000_000;
  private static final long[] LEASES_MILLIS = {100, 250, 1_000, 5_000, 21_000, 30_000};

  /** Lost places and failures are tried again after at most a second each, jittered. */
  private static final long RETRY_NANOS = 1_200 * MILLI;

  /** A waiter asks at least this often, by a clock that may be slow. */
  private static final long LONGEST_SILENCE_NANOS = 2_000 * MILLI * 101 / 100;

  private final Random random;
  private final EventQueue queue;
  private final History history;
  private final MemoryStore store;
  private final long leaseNanos;
  private final Faults faults;
  private final long stickyNanos;
  private final boolean usersBlock;
  private final int locks;

  /** By number of the lock: 0 for a lock, else the permits of a semaphore. */
  private final int[] capacities = new int[3];

  private int capacityChanges;
  private final boolean readers;
  private final List<SimulatedClient> clients = new ArrayList<>();
  private final Map<String, Long> freeSince = new HashMap<>();

  private Simulation(long seed) {
    random = new Random(seed * 0x9E3779B97F4A7C15L);
    queue = new EventQueue(random);
    history = new History(queue);
    store = new MemoryStore(queue::now);
    leaseNanos = LEASES_MILLIS[random.nextInt(LEASES_MILLIS.length)] * MILLI;
    faults = new Faults(random, queue, leaseNanos, (2 + random.nextInt(6)) * leaseNanos);
    locks = 1 + random.nextInt(3);
    readers = random.nextInt(3) > 0;
    for (int i = 0; i < locks; i++) {
      capacities[i] = random.nextInt(3) == 0 ? 1 + random.nextInt(4) : 0;
      history.capacityIs("lock" + i, capacities[i]);
    }
    boolean blocks = random.nextInt(3) == 0;
    stickyNanos = random.nextInt(3) == 0 ? (1 + random.nextInt(1_000)) * MILLI : 0;
    usersBlock = random.nextBoolean();
    int count = 2 + random.nextInt(3);
    for (int i = 0; i < count; i++) {
      clients.add(client("c" + i, blocks));
    }
  }

  static Outcome run(long seed) {
    return new Simulation(seed).run();
  }

  private SimulatedClient client(String id, boolean blocks) {
    SimulatedProcess process = new SimulatedProcess(queue);
    double rate = 0.9902 + 0.0198 * random.nextDouble();
    SimulatedTime time = new SimulatedTime(queue, process, random.nextInt(), rate);
    SimulatedStore far = new SimulatedStore(queue, process, store, faults, history, blocks);
    Workers workers =
        new Workers(
            task -> process.run(0, Context.WORKER, task),
            task -> process.run(0, Context.WORKER, task),
            task -> process.run(behindBlockedCode(), Context.USER, task),
            task -> callBack(process, task),
            Runnable::run);
    PawlOptions options =
        PawlOptions.defaults().patience(Duration.ofNanos(random.nextInt(4) * leaseNanos));
    Engine engine = new Engine(far, options, time, workers, random, id);
    return new SimulatedClient(this, id, process, time, engine);
  }

  /** Users' code may have to wait for other code of theirs, for as long as that blocks. */
  private long behindBlockedCode() {
    return usersBlock && faults.active() && random.nextInt(4) == 0
        ? (long) (2 * leaseNanos * random.nextDouble())
        : 0;
  }

  /** At once, or when other callbacks, which block, have ended. */
  private void callBack(SimulatedProcess process, Runnable task) {
    long delay = behindBlockedCode();
    if (delay == 0) {
      task.run();
    } else {
      process.run(delay, Context.USER, task);
    }
  }

  private Outcome run() {
    clients.forEach(client -> client.live(3 + random.nextInt(10)));
    runUntil(faults.quietFrom());
    for (int i = 0; i < ROUNDS_OF_TRIES && hasOnlyLocks(); i++) {
      long wait = i % 2 * 3 * faults.roundTripNanos();
      queue.after(untilSettled() + i * leaseNanos, () -> tryTogether(Duration.ofNanos(wait)));
    }
    runUntil(faults.quietFrom() + afterFaults());
    List<SimulatedClient.Request> waiting =
        clients.stream().flatMap(c -> c.requests().stream()).filter(r -> r.isLive()).toList();
    if (!waiting.isEmpty()) {
      history.violation("P6: still waiting: " + waiting);
    }
    clients.forEach(SimulatedClient::close);
    runUntil(queue.now() + 2 * leaseNanos + 60_000 * MILLI);
    checkNothingIsLeft();
    history.checkEveryLossWasTold();
    return new Outcome(
        history.violation(),
        queue.traceHash(),
        queue.executed(),
        history.delivered(),
        history.losses());
  }

  /**
   * P6: long enough for all that is dead to run out, for a lost bell to be made up for, and for
   * everyone to have held.
   */
  private long afterFaults() {
    int requests = 4 * 13;
    return 4 * leaseNanos
        + 2 * RETRY_NANOS
        + requests
            * (stickyNanos + (3 + LONGEST_MIN_HOLD) * leaseNanos + 8 * faults.timeoutNanos());
  }

  /** How long after the last fault all that it left behind has run out, or was made up for. */
  private long untilSettled() {
    return 4 * leaseNanos + RETRY_NANOS;
  }

  /**
   * Of those who try a free group at once, and do not wait, one gets in, unless somebody asks for
   * something else meanwhile, and may get that.
   */
  private void tryTogether(Duration wait) {
    List<SimulatedClient> those = clients.stream().filter(SimulatedClient::isThere).toList();
    boolean free = those.size() == clients.size() && allLocks().stream().allMatch(this::isFree);
    if (!free || clients.stream().anyMatch(SimulatedClient::isAsking)) {
      return;
    }
    List<Boolean> answers = new ArrayList<>();
    long requests = requestsSoFar() + those.size();
    for (SimulatedClient client : those) {
      client.tryAll(
          2 * faults.roundTripNanos(),
          wait,
          busy -> {
            answers.add(busy && wait.isZero());
            if (answers.size() == those.size()
                && !answers.contains(false)
                && requestsSoFar() == requests) {
              history.violation("a free group was refused to all who tried");
            }
          });
    }
  }

  private long requestsSoFar() {
    return clients.stream().mapToLong(client -> client.requests().size()).sum();
  }

  private boolean isFree(String lock) {
    store.evict(lock, 0).toCompletableFuture().join(); // settles it
    return store.show(lock).toCompletableFuture().join().stream()
        .flatMap(Simulation::views)
        .findAny()
        .isEmpty();
  }

  private void runUntil(long end) {
    while (history.violation() == null && queue.step(end)) {
      history.check();
      checkNobodySleepsBesideAFreeLock();
    }
  }

  /**
   * P6: with no fault left, a lock that nobody holds is granted to whoever waits within a few round
   * trips, a pause after a lost place, and the retry of what failed last. Nobody is there to ring
   * when a shortest hold ends: then whoever waits finds out by asking.
   */
  private void checkNobodySleepsBesideAFreeLock() {
    long now = queue.now();
    if (now < faults.quietFrom() + untilSettled()) {
      return;
    }
    if (someGroupIsUnderWay()) {
      freeSince.clear(); // it may hold locks that no user has been handed yet
      return;
    }
    for (String lock : allLocks()) {
      boolean wanted =
          clients.stream()
              .flatMap(client -> client.requests().stream())
              .anyMatch(r -> r.isLive() && r.patient() && r.lock().equals(lock));
      if (!wanted || history.someoneHolds(lock)) {
        freeSince.remove(lock);
      } else if (now - freeSince.computeIfAbsent(lock, k -> now) > longestIdle()
          && now - history.shortestHoldsEnd(lock) > LONGEST_SILENCE_NANOS + longestIdle()) {
        history.violation("P6: " + lock + " is free beside a waiter since " + freeSince.get(lock));
      }
    }
  }

  private boolean someGroupIsUnderWay() {
    return clients.stream()
        .flatMap(client -> client.requests().stream())
        .anyMatch(r -> r.isLive() && r.lock().equals(SimulatedClient.Request.ALL));
  }

  private long longestIdle() {
    return 8 * faults.roundTripNanos() + 100 * MILLI + stickyNanos * 102 / 100;
  }

  /** P8. Views settle nothing by themselves, an eviction of no token does. */
  private void checkNothingIsLeft() {
    if (history.violation() != null) {
      return;
    }
    for (String lock : allLocks()) {
      store.evict(lock, 0).toCompletableFuture().join();
    }
    for (LockView lock : store.list(100).toCompletableFuture().join()) {
      if (!lock.holders().isEmpty() || !lock.waiters().isEmpty()) {
        history.violation("P8: the store still has " + lock);
      }
    }
    clients.stream()
        .filter(client -> !client.leftNothing())
        .forEach(client -> history.violation("P8: an engine still has lines or claims"));
  }

  /**
   * Without faults since {@code since}, the store has nothing of {@code client}, which wants
   * nothing.
   */
  void checkNothingIsLeftOf(String client, long since) {
    if (since < faults.quietFrom() + untilSettled() || stickyNanos > 0) {
      return;
    }
    for (String lock : allLocks()) {
      store
          .show(lock)
          .toCompletableFuture()
          .join()
          .filter(view -> views(view).anyMatch(claim -> claim.id().client().equals(client)))
          .ifPresent(view -> history.violation("refused, and left behind " + view));
    }
  }

  private static Stream<ClaimView> views(LockView lock) {
    return Stream.concat(lock.holders().stream(), lock.waiters().stream());
  }

  /** An operator ends a hold by hand. */
  void evictSomeone() {
    String lock = someLock();
    store
        .show(lock)
        .toCompletableFuture()
        .join()
        .flatMap(view -> view.holders().stream().findAny())
        .ifPresent(
            holder -> {
              history.evicted(lock, holder.token(), holder.lastToken());
              store.evict(lock, holder.token()).toCompletableFuture().join();
            });
  }

  /** Somebody changes the capacity of a semaphore, if there is any: {@code client}, or another. */
  void changeCapacity(SimulatedClient client) {
    int number = random.nextInt(locks);
    if (capacities[number] == 0) {
      return;
    }
    String lock = "lock" + number;
    int capacity = 1 + random.nextInt(5);
    capacities[number] = capacity;
    capacityChanges++;
    history.capacityIs(lock, capacity);
    store.setKind(lock, Kind.semaphore(capacity)).toCompletableFuture().join();
    if (random.nextBoolean()) {
      client.engine().capacityIs(lock, capacity);
    }
  }

  int capacityChanges() {
    return capacityChanges;
  }

  Random random() {
    return random;
  }

  History history() {
    return history;
  }

  Faults faults() {
    return faults;
  }

  long leaseNanos() {
    return leaseNanos;
  }

  /** For how long its clients may keep a hold after a release; 0 where none does. */
  long stickyNanos() {
    return stickyNanos;
  }

  /** Whether users' code may have to wait for other code of theirs. */
  boolean usersBlock() {
    return usersBlock;
  }

  long now() {
    return queue.now();
  }

  List<String> allLocks() {
    return IntStream.range(0, locks).mapToObj(i -> "lock" + i).toList();
  }

  String someLock() {
    return "lock" + random.nextInt(locks);
  }

  boolean hasOnlyLocks() {
    return Arrays.stream(capacities).allMatch(capacity -> capacity == 0);
  }

  Mode someMode(String lock) {
    int capacity = capacities[Integer.parseInt(lock.substring("lock".length()))];
    if (capacity > 0) {
      return new Mode.Permits(1 + random.nextInt(capacity), capacity);
    }
    return readers && random.nextInt(3) > 0 ? Mode.SHARED : Mode.EXCLUSIVE;
  }
}

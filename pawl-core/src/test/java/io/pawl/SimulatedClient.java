package io.pawl;

import io.pawl.SimulatedProcess.Context;
import io.pawl.engine.Engine;
import io.pawl.engine.QueueKey;
import io.pawl.engine.Requests;
import io.pawl.error.LockKindException;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A program that uses locks at random: asks, holds, writes, gives up, closes, pauses, dies. */
final class SimulatedClient {

  /** One call of {@code tryAcquireAsync}; {@link #ALL} stands for a group of all locks. */
  record Request(
      SimulatedClient client,
      String lock,
      long askedAt,
      boolean patient,
      CompletableFuture<?> future) {

    static final String ALL = "all";

    boolean isLive() {
      return !future.isDone() && !client.process.isCrashed();
    }
  }

  /** Of times in this process, in nanoseconds. */
  private static final long GRAIN = 1_000_000;

  private final Simulation world;
  private final String id;
  private final Random random;
  private final SimulatedProcess process;
  private final SimulatedTime time;
  private final Engine engine;

  /** Of which each request has one. */
  private final List<LockOptions> options = new ArrayList<>();

  private final List<Request> requests = new ArrayList<>();
  private final List<SimulatedLease> open = new ArrayList<>();

  /** When something of its own last ended. */
  private long endedAt;

  private boolean closing;
  private boolean closed;

  SimulatedClient(
      Simulation world, String id, SimulatedProcess process, SimulatedTime time, Engine engine) {
    this.world = world;
    this.id = id;
    this.random = world.random();
    this.process = process;
    this.time = time;
    this.engine = engine;
    for (int i = random.nextInt(3); i >= 0; i--) {
      options.add(someOptions());
    }
  }

  private LockOptions someOptions() {
    LockOptions chosen = LockOptions.defaults().lease(Duration.ofNanos(world.leaseNanos()));
    chosen = random.nextInt(4) == 0 ? chosen.releaseInBackground() : chosen;
    if (world.stickyNanos() > 0 && random.nextBoolean()) {
      return chosen.sticky(Duration.ofNanos(world.stickyNanos()));
    }
    chosen = random.nextInt(3) == 0 ? chosen.strictOrder() : chosen;
    chosen = random.nextInt(4) == 0 ? chosen.minHold(shortestHold()) : chosen;
    return random.nextInt(5) == 0 ? chosen.renewal(false) : chosen;
  }

  private LockOptions options() {
    return options.get(random.nextInt(options.size()));
  }

  /** Shorter than a lease, or longer. */
  private Duration shortestHold() {
    return Duration.ofNanos(between(0, Simulation.LONGEST_MIN_HOLD * world.leaseNanos()));
  }

  List<Request> requests() {
    return requests;
  }

  Engine engine() {
    return engine;
  }

  boolean isThere() {
    return !process.isCrashed() && !closing;
  }

  boolean isAsking() {
    return requests.stream().anyMatch(Request::isLive);
  }

  boolean isCrashed() {
    return process.isCrashed();
  }

  /** Does {@code count} things, one after another. */
  void live(int count) {
    if (count == 0) {
      return;
    }
    process.run(
        between(0, world.leaseNanos() / 2),
        Context.USER,
        () -> {
          doSomething();
          live(count - 1);
        });
  }

  private void doSomething() {
    int choice = random.nextInt(20);
    if (choice < 2 && world.faults().active()) {
      world.changeCapacity(this);
    }
    if (choice < 14 || !world.faults().active()) {
      acquire();
    } else if (choice < 17) {
      process.pause(between(0, 3 * world.leaseNanos()));
    } else if (choice == 17) {
      world.faults().outage();
    } else if (choice == 18) {
      world.evictSomeone();
    } else if (random.nextInt(8) == 0) {
      process.crash();
    } else if (random.nextInt(8) == 0) {
      close();
    }
  }

  /** Asks for all locks at once, within {@code nanos}; says whether they are busy. */
  void tryAll(long nanos, Duration wait, Consumer<Boolean> busy) {
    process.run(
        between(0, nanos),
        Context.USER,
        () -> {
          CompletableFuture<Optional<GroupLease>> future = askForAll(wait);
          requests.add(new Request(this, Request.ALL, world.now(), false, future));
          future.whenComplete((group, error) -> busy.accept(error == null && group.isEmpty()));
        });
  }

  private void acquire() {
    if (closing) {
      return;
    }
    String lock = world.someLock();
    long wait = random.nextInt(3) * between(0, 2 * world.leaseNanos());
    boolean patient = random.nextInt(3) == 0;
    Duration longest = patient ? Duration.ofDays(1) : Duration.ofNanos(wait);
    boolean all = world.hasOnlyLocks() && random.nextInt(6) == 0;
    CompletableFuture<?> future = all ? askForAll(longest) : askFor(lock, longest);
    requests.add(new Request(this, all ? Request.ALL : lock, world.now(), patient, future));
    if (random.nextInt(6) == 0) {
      process.run(between(0, world.leaseNanos()), Context.USER, () -> future.cancel(false));
    }
  }

  /** When somebody asked, by this process' own clock, and for how long at most. */
  private final class Ask {

    private final long askedAt = time.nanos();
    private final long askedAtInWorld = world.now();
    private final long waitNanos;
    private final int capacityChanges = world.capacityChanges();

    Ask(Duration longest) {
      this.waitNanos = longest.toNanos();
    }

    /** Bounded waits: P6 for those who do not wait for ever, and for stores that are silent. */
    void isOver() {
      inUsersCode();
      endedAt = world.now();
      long took = time.nanos() - askedAt;
      boolean stopped = process.pausedUntil() > askedAtInWorld;
      if (!stopped && !world.usersBlock() && took > waitNanos + Simulation.ANSWER_NANOS + GRAIN) {
        world.history().violation("P6: a wait of " + waitNanos + " ns ended after " + took);
      }
    }

    /** Who asks with the capacity that there is, and stays, is not told of another. */
    void isNotMistaken(@Nullable Throwable error) {
      if (error instanceof LockKindException && capacityChanges == world.capacityChanges()) {
        world.history().violation("asked for what it is, and told " + error.getMessage());
      }
    }

    /** Nothing of a group that was refused is left, where the store answers in time. */
    void isRefused() {
      long took = time.nanos() - askedAt;
      boolean others =
          !open.isEmpty()
              || requests.stream().anyMatch(Request::isLive)
              || endedAt > askedAtInWorld - 4 * world.faults().roundTripNanos();
      if (!others
          && options.stream().allMatch(one -> one.minHold().isZero())
          && took < waitNanos + Simulation.ANSWER_NANOS - GRAIN) {
        world.checkNothingIsLeftOf(id, askedAtInWorld);
      }
    }
  }

  /** Users' futures complete on their executor, never on a thread of the engine's or a store's. */
  private void inUsersCode() {
    if (process.context() != Context.USER) {
      world.history().violation("users' code ran in " + process.context());
    }
  }

  private CompletableFuture<?> askFor(String lock, Duration longest) {
    Ask ask = new Ask(longest);
    CompletableFuture<Optional<Lease>> future =
        new Requests(engine, new QueueKey(lock, options(), world.someMode(lock)))
            .tryAcquireAsync(longest, loan -> loan.map(Lease::new));
    future.whenComplete((lease, error) -> ask.isOver());
    future.whenComplete((lease, error) -> ask.isNotMistaken(error));
    future.thenAccept(lease -> lease.ifPresent(this::hold));
    return future;
  }

  /** What is handed out is held and given back one by one. */
  private CompletableFuture<Optional<GroupLease>> askForAll(Duration longest) {
    Ask ask = new Ask(longest);
    CompletableFuture<Optional<GroupLease>> future =
        new LockGroup(engine, world.allLocks(), options().sticky(Duration.ZERO))
            .tryAcquireAsync(longest);
    future.whenComplete(
        (group, error) -> {
          if (error == null && group.isEmpty()) {
            ask.isRefused();
          }
          ask.isOver();
        });
    future.thenAccept(
        group -> group.ifPresent(all -> all.loan().loans().forEach(loan -> hold(new Lease(loan)))));
    return future;
  }

  private void hold(Lease lease) {
    SimulatedLease held = world.history().delivered(lease, process, time, world.usersBlock());
    open.add(held);
    lease.onLost(() -> misbehave(lease));
    long length =
        random.nextInt(8) == 0
            ? between(0, 3 * world.leaseNanos())
            : between(0, world.leaseNanos() / 10);
    for (int i = random.nextInt(4); i > 0; i--) {
      process.run(between(0, length), Context.USER, held::write);
    }
    if (lease.mode() == Mode.EXCLUSIVE && random.nextInt(4) == 0) {
      process.run(between(0, length), Context.WORKER, held::downgrade);
    }
    if (random.nextInt(5) == 0) {
      process.run(between(0, length), Context.WORKER, held::extend);
    }
    process.run(length, Context.USER, () -> giveBack(held));
  }

  private void giveBack(SimulatedLease held) {
    endedAt = world.now();
    held.close()
        .thenRun(
            () -> {
              inUsersCode();
              misbehave(held.lease());
            });
    open.remove(held);
  }

  /** What users do in callbacks and continuations. */
  private void misbehave(Lease lease) {
    switch (random.nextInt(12)) {
      case 0 -> acquire();
      case 1 -> {
        endedAt = world.now();
        lease.closeAsync();
      }
      case 2 -> lease.loan().isTrusted();
      case 3 -> throw new IllegalStateException("a user's callback fails, on purpose");
      case 4 -> {
        if (world.faults().active() && random.nextInt(8) == 0) {
          close();
        }
      }
      default -> {}
    }
  }

  void close() {
    if (closing) {
      return;
    }
    closing = true;
    process.run(0, Context.WORKER, this::endAll);
  }

  private void endAll() {
    CompletableFuture<Void> returned = engine.lifecycle().beginClosing();
    Runnable endHolds = once(this::endHolds);
    returned.whenComplete((nothing, error) -> process.run(0, Context.USER, endHolds));
    process.run(between(0, 2 * world.leaseNanos()), Context.TIMER, endHolds);
  }

  private void endHolds() {
    engine.lifecycle().endHolds("the grace is over");
    CompletableFuture<Void> ended = engine.lifecycle().answered();
    Runnable finish =
        () -> {
          engine.lifecycle().abandon();
          closed = true;
        };
    ended.whenComplete((nothing, error) -> process.run(0, Context.USER, finish));
    process.run(5_000_000_000L, Context.TIMER, finish);
  }

  private static Runnable once(Runnable task) {
    boolean[] done = new boolean[1];
    return () -> {
      if (!done[0]) {
        done[0] = true;
        task.run();
      }
    };
  }

  /** P8 for the engine. */
  boolean leftNothing() {
    return process.isCrashed() || (closed && engine.isIdle());
  }

  private long between(long least, long most) {
    return least + (long) (random.nextDouble() * (most - least));
  }
}

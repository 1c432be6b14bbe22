package io.pawl.sql.lock;

import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.LockState.Grant;
import io.pawl.sql.dialect.Database;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The claims of this client that wait, and their bells. Grants made by this client ring at once;
 * those made by others come through a {@link Doorbell}.
 */
public final class WaitingClaims implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(WaitingClaims.class);

  private record Waiting(String lock, Bell bell, QueuePlace place) {}

  private final ConcurrentHashMap<ClaimId, Waiting> waiting = new ConcurrentHashMap<>();
  private final Database database;
  private final String threadName;
  private volatile @Nullable Doorbell doorbell;
  private volatile Consumer<String> server = lock -> {};
  private volatile BiConsumer<String, Set<ClaimId>> keeper = (lock, granted) -> {};
  private volatile boolean closed;

  public WaitingClaims(Database database, String threadName) {
    this.database = database;
    this.threadName = threadName;
  }

  /**
   * @param serves told of locks that are free though somebody waits for them
   */
  void freeLocksServedBy(Consumer<String> serves) {
    server = serves;
  }

  /**
   * @param keeps told of claims of this client that were read as granted, though a crash of the
   *     server could still undo it; it has them rung for
   */
  void grantsKeptBy(BiConsumer<String, Set<ClaimId>> keeps) {
    keeper = keeps;
  }

  /** The database is known: how it tells of grants can be chosen. */
  public void open() {
    doorbell =
        polls()
            ? new RowPoll(database, this, threadName)
            : new PostgresBell(database, this, threadName);
  }

  /** Whether whoever waits looks at its lock by itself. */
  boolean polls() {
    return !database.dialect().notifies() || !database.connections().areOurs();
  }

  /** {@code lock} is free, and claims of this client wait for it. */
  void serveFree(String lock) {
    server.accept(lock);
  }

  /** {@code holders} hold {@code lock}, for all that was read, and some may wait here. */
  void keep(String lock, Collection<ClaimId> holders) {
    Set<ClaimId> granted = new HashSet<>(holders);
    granted.retainAll(waiting.keySet());
    if (!granted.isEmpty()) {
      keeper.accept(lock, granted);
    }
  }

  /** {@code claim} may be granted from now on. */
  public void add(Claim claim, Bell bell) {
    waiting.put(claim.id(), new Waiting(claim.lock(), bell, new QueuePlace()));
  }

  /** {@code id} does not wait any more. */
  public void remove(ClaimId id) {
    waiting.remove(id);
  }

  /** {@code id} was told that it waits, behind {@code ahead} others: somebody has to watch. */
  public void watch(ClaimId id, int ahead) {
    Waiting waiter = waiting.get(id);
    if (!closed && waiter != null) {
      waiter.place.entered(ahead, System.nanoTime());
      watch(id);
    }
  }

  /** The store has said of {@code id} that it waits, behind {@code ahead} others. */
  public void standsBehind(ClaimId id, int ahead) {
    Waiting waiter = waiting.get(id);
    if (waiter != null) {
      waiter.place.standsBehind(ahead);
    }
  }

  void watch(ClaimId id) {
    Doorbell known = doorbell;
    if (known != null) {
      known.watch(id);
    }
  }

  public boolean know(ClaimId id) {
    return waiting.containsKey(id);
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** One of the claims that wait, if there are any: a reason to go on watching. */
  List<ClaimId> any() {
    return waiting.keySet().stream().limit(1).toList();
  }

  /** The claims that wait, of whichever client. */
  Set<ClaimId> all() {
    return Set.copyOf(waiting.keySet());
  }

  /** What is waited for, in the order of names. */
  Set<String> locks() {
    Set<String> locks = new TreeSet<>();
    waiting.values().forEach(waiter -> locks.add(waiter.lock()));
    return locks;
  }

  /** When to look next at each lock that is waited for, given when it last was. */
  Map<String, Long> nextLooks(Map<String, Long> lookedAt, long shortestNanos, long placeNanos) {
    Map<String, Long> looks = new HashMap<>();
    waiting
        .values()
        .forEach(
            waiter -> {
              if (waiter.place.isEntered()) {
                Long last = lookedAt.get(waiter.lock);
                looks.merge(
                    waiter.lock, waiter.place.nextLook(last, shortestNanos, placeNanos), Math::min);
              }
            });
    return looks;
  }

  /** Somebody was granted {@code lock}. */
  void movedOn(String lock, long nowNanos) {
    for (Waiting waiter : waiting.values()) {
      if (waiter.lock.equals(lock)) {
        waiter.place.movedOn(nowNanos);
      }
    }
  }

  /** What the claim with this id waits for; null if it is no id of one that waits here. */
  @Nullable String lockOf(String id) {
    try {
      Waiting waiter = waiting.get(ClaimId.parse(id));
      return waiter == null ? null : waiter.lock;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** What more than one claim of this client waits for. */
  Set<String> crowded() {
    Set<String> seen = new HashSet<>();
    Set<String> crowded = new HashSet<>();
    for (Waiting waiter : waiting.values()) {
      if (!seen.add(waiter.lock)) {
        crowded.add(waiter.lock);
      }
    }
    return crowded;
  }

  /** Rings the bells of those claims that are ours; says whether there was one. */
  boolean ring(List<Grant> granted) {
    boolean rang = false;
    for (Grant grant : granted) {
      rang |= ring(grant.id(), grant.held());
    }
    return rang;
  }

  boolean ring(ClaimId id, Standing.Held held) {
    Waiting waiter = waiting.remove(id);
    if (waiter != null) {
      try {
        waiter.bell().ring(held);
      } catch (RuntimeException | Error e) { // others wait to be rung for
        log.error("the bell of claim {} failed; its renewal will tell", id, e);
      }
    }
    return waiter != null;
  }

  /** Whether {@code id} is not the only claim of this client that waits for its lock. */
  boolean hasCompany(ClaimId id) {
    Waiting waiter = waiting.get(id);
    return waiter != null
        && waiting.values().stream()
                .filter(other -> other.lock.equals(waiter.lock))
                .limit(2)
                .count()
            == 2;
  }

  @Override
  public void close() {
    closed = true;
    waiting.clear();
    Doorbell known = doorbell;
    if (known != null) {
      known.close();
    }
  }
}

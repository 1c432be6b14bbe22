package io.pawl.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockObserver;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What happens to the locks of one client, as meters. Pass it to {@link PawlOptions#observer}.
 *
 * <p>Each meter has the tag {@code group}, and no tag has a lock's name: {@link LockGroups} makes
 * groups of names. The first 100 groups have meters of their own; all others share {@link #OTHER}.
 *
 * <p>Thread-safe. No round trips; it never blocks.
 */
public final class LockMeters implements LockObserver {

  /** The group of locks that have no other. */
  public static final String OTHER = "other";

  static final int MOST_GROUPS = 100;

  private final MeterRegistry registry;
  private final LockGroups groups;
  private final Tags tags;
  private final GroupMeters others;
  private final Map<String, GroupMeters> known = new ConcurrentHashMap<>();
  private final ReentrantLock adding = new ReentrantLock();
  private final Set<String> places = new HashSet<>();

  /** Of the event before, which is often of the same lock. A thread may see an older one. */
  private Told last;

  private record Told(String lock, GroupMeters meters) {}

  /** Groups locks {@linkplain LockGroups#byBeginning() by the beginning of their names}. */
  public LockMeters(MeterRegistry registry) {
    this(registry, LockGroups.byBeginning(), Tags.empty());
  }

  /**
   * @param tags of all meters: they tell one client of a process from another
   */
  public LockMeters(MeterRegistry registry, LockGroups groups, Iterable<Tag> tags) {
    this.registry = Objects.requireNonNull(registry, "registry");
    this.groups = Objects.requireNonNull(groups, "groups");
    this.tags = Tags.of(tags);
    this.others = new GroupMeters(registry, this.tags.and("group", OTHER));
    this.last = new Told("", others);
  }

  private GroupMeters of(String lock) {
    Told recent = last;
    if (recent.lock.equals(lock)) {
      return recent.meters;
    }
    GroupMeters meters = look(lock);
    last = new Told(lock, meters);
    return meters;
  }

  private GroupMeters look(String lock) {
    String group = groups.groupOf(lock);
    GroupMeters meters = known.get(group);
    if (meters != null) {
      return meters;
    }
    return group.isBlank() || group.equals(OTHER) || known.size() >= MOST_GROUPS
        ? others
        : added(group);
  }

  /** Under no lock: the registry asks filters of the user's, which may wait. */
  private GroupMeters added(String group) {
    if (!hasPlace(group)) {
      return others;
    }
    GroupMeters made = new GroupMeters(registry, tags.and("group", group));
    GroupMeters before = known.putIfAbsent(group, made);
    return before == null ? made : before;
  }

  private boolean hasPlace(String group) {
    adding.lock();
    try {
      return places.contains(group) || places.size() < MOST_GROUPS && places.add(group);
    } finally {
      adding.unlock();
    }
  }

  @Override
  public void acquired(String lock, long token, Duration waited, boolean passed) {
    of(lock).acquired(waited, passed);
  }

  @Override
  public void notAcquired(String lock, Duration waited) {
    of(lock).notAcquired(waited);
  }

  @Override
  public void waiting(String lock, boolean behindOwn) {
    of(lock).waiting();
  }

  @Override
  public void waitingEnded(String lock, Duration waited) {
    of(lock).waitingEnded();
  }

  @Override
  public void released(String lock, long token, Duration held) {
    of(lock).released(held);
  }

  @Override
  public void lost(String lock, long token, String why) {
    of(lock).lost(LossReason.of(why));
  }

  @Override
  public void skipped(String job) {
    of(job).skipped();
  }

  @Override
  public void storeFailed(String lock, StoreException failure) {
    Counter.builder("pawl.store.errors")
        .description("Requests for locks that the store failed to answer")
        .tags(tags.and("kind", kind(failure)))
        .register(registry)
        .increment();
  }

  private static String kind(StoreException failure) {
    if (failure instanceof StoreUnavailableException) {
      return "unavailable";
    }
    if (failure instanceof StoreDeniedException) {
      return "denied";
    }
    return failure instanceof StoreConfigurationException ? "configuration" : OTHER;
  }
}

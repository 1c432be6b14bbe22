package io.pawl.sql.lock;

import io.pawl.spi.Claim;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Locks as this client left them, and what can be decided by that alone, or that others were there
 * too. Used by whoever is at work.
 */
final class Shortcuts {

  /** The requests of a batch, each with its answer, and what they make of their locks. */
  record Plan(Collection<Shortcut> locks, List<Step> steps) {

    void decide() {
      steps.forEach(step -> step.request.decided(step.shortcut));
    }
  }

  private record Step(Request<?> request, Shortcut shortcut) {}

  private static final int MAX_KNOWN = 10_000;

  private final Map<String, Shortcut.Known> asLeft = new Latest<>();
  private final Map<String, Boolean> busy = new Latest<>();

  /** Forgets first what was longest not asked for. */
  private static final class Latest<V> extends LinkedHashMap<String, V> {
    private static final long serialVersionUID = 1;

    Latest() {
      super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
      return size() > MAX_KNOWN;
    }
  }

  /** How to decide the whole of {@code batch}, null if part of it needs to be read. */
  @Nullable Plan plan(List<Request<?>> batch) {
    Map<String, Shortcut> locks = new HashMap<>();
    List<Step> steps = new ArrayList<>(batch.size());
    for (Request<?> request : batch) {
      Claim claim = request.claim();
      if (claim == null) {
        return null;
      }
      Shortcut before = locks.get(claim.lock());
      Shortcut.Known known = before == null ? asLeft.get(claim.lock()) : before.known();
      Shortcut next = known == null ? null : request.shortcut(known);
      if (next == null || (before != null && !before.canBeFollowedBy(next))) {
        return null;
      }
      locks.put(claim.lock(), before == null ? next : before.and(next));
      steps.add(new Step(request, next));
    }
    return GuardedUpdate.fits(locks.values()) ? new Plan(locks.values(), steps) : null;
  }

  void remember(String lock, Shortcut.@Nullable Known known) {
    if (known == null) {
      asLeft.remove(lock);
      busy.put(lock, true);
    } else {
      busy.remove(lock);
      asLeft.put(lock, known);
    }
  }

  /** Those of {@code locks} of which nothing is known, so that they may have no row. */
  Set<String> unseenAmong(Set<String> locks) {
    Set<String> unseen = new HashSet<>(locks);
    unseen.removeIf(lock -> asLeft.containsKey(lock) || busy.containsKey(lock));
    return unseen;
  }

  /** Whether {@code lock} was held or waited for when this client last saw it. */
  boolean leftBusy(String lock) {
    Shortcut.Known known = asLeft.get(lock);
    return known == null ? busy.get(lock) != null : known.holder() != null;
  }

  void forget(Plan plan) {
    plan.locks.forEach(shortcut -> asLeft.remove(shortcut.lock()));
  }
}

package io.pawl.spring;

import io.pawl.Lease;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The leases under which the code of this thread runs, by {@link Locked}, {@link ScheduledOnce} and
 * {@link Leader}. Threads that a method starts have none; pass them the lease. In a {@code Mono} or
 * {@code Flux} the lease is in the context, under the key {@code Lease.class}.
 */
public final class Leases {

  private static final ThreadLocal<List<Held>> held = new ThreadLocal<>();

  private Leases() {}

  /**
   * Returns the lease of the innermost method.
   *
   * @throws IllegalStateException on a thread that runs no such method
   */
  public static Lease current() {
    return find()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "this thread runs under no lease: was a @Locked method called through its"
                        + " bean?"));
  }

  /** Returns the lease of the innermost method, empty on a thread that runs no such method. */
  public static Optional<Lease> find() {
    List<Held> all = all();
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(all.size() - 1).lease());
  }

  /** Returns the lease of the lock with this name, empty where this thread has none. */
  public static Optional<Lease> of(String lock) {
    return Optional.ofNullable(held(lock)).map(Held::lease);
  }

  static @Nullable Held held(String lock) {
    List<Held> all = all();
    for (int i = all.size() - 1; i >= 0; i--) {
      if (all.get(i).lease().lock().equals(lock)) {
        return all.get(i);
      }
    }
    return null;
  }

  /** Those that this thread has now. */
  static List<Held> all() {
    List<Held> all = held.get();
    if (all == null) {
      return List.of();
    }
    all.removeIf(Held::isOver); // a transaction may end on another thread
    return all;
  }

  static Held enter(Lease lease) {
    Held entered = new Held(lease);
    List<Held> all = held.get();
    if (all == null) {
      all = new ArrayList<>(2);
      held.set(all);
    }
    all.add(entered);
    return entered;
  }

  static void leave(Held left) {
    left.end();
    if (all().isEmpty()) {
      held.remove();
    }
  }
}

package io.pawl.memory;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Stores that clients of one JVM share by name, each for as long as somebody has it open, or a
 * claim that was left to run out lives.
 */
final class NamedMemories {

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,200}");

  private final ConcurrentHashMap<String, Shared> byName = new ConcurrentHashMap<>();

  private record Shared(MemoryStore store, int users) {}

  MemoryStore open(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "memory store '"
              + name
              + "': a name has 1 to 200 letters, digits, dots, hyphens and underscores;"
              + " write memory:name, or memory: for a store of your own");
    }
    forgetWhatHasRunOut();
    MemoryStore store = byName.compute(name, (same, known) -> withOneMore(known)).store;
    AtomicBoolean closed = new AtomicBoolean();
    return new MemoryStore(
        store,
        name,
        () -> {
          if (closed.compareAndSet(false, true)) {
            byName.computeIfPresent(name, (same, known) -> withOneLess(known));
          }
        });
  }

  /** Stores that nobody has open, and whose last holds are over: nobody may ask for them again. */
  private void forgetWhatHasRunOut() {
    for (String name : byName.keySet()) {
      byName.computeIfPresent(
          name, (same, known) -> known.users == 0 && isIdle(known.store) ? null : known);
    }
  }

  /** How many stores it keeps. */
  int size() {
    return byName.size();
  }

  private static Shared withOneMore(@Nullable Shared known) {
    return known == null || (known.users == 0 && isIdle(known.store))
        ? new Shared(new MemoryStore(), 1)
        : new Shared(known.store, known.users + 1);
  }

  private static @Nullable Shared withOneLess(Shared known) {
    return known.users == 1 && isIdle(known.store)
        ? null
        : new Shared(known.store, known.users - 1);
  }

  private static boolean isIdle(MemoryStore store) {
    return store.list(1).toCompletableFuture().join().isEmpty();
  }
}

package io.pawl.examples;

import io.pawl.GroupLease;
import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Money moves between two accounts, in both directions at once: each move takes the locks of both
 * accounts together, so that no order of names can end in a deadlock.
 */
public final class BothAccounts {

  private static final int MOVES = 50;

  private BothAccounts() {}

  /** Takes no arguments. */
  public static void main(String[] arguments) throws InterruptedException {
    Map<String, Integer> balances = new HashMap<>(Map.of("a", 1_000, "b", 1_000));
    try (MemoryStore store = new MemoryStore();
        Pawl pawl = Pawl.over(store)) {
      List<Thread> movers =
          List.of(
              new Thread(() -> move(pawl, balances, "a", "b")),
              new Thread(() -> move(pawl, balances, "b", "a")));
      movers.forEach(Thread::start);
      for (Thread mover : movers) {
        mover.join();
      }
    }
    if (!balances.equals(Map.of("a", 1_000, "b", 1_000))) {
      throw new IllegalStateException("money was lost: " + balances);
    }
    System.out.println(2 * MOVES + " moves in both directions, and nothing was lost");
  }

  private static void move(Pawl pawl, Map<String, Integer> balances, String from, String to) {
    try {
      for (int i = 0; i < MOVES; i++) {
        try (GroupLease both = pawl.lockAll("account:" + from, "account:" + to).acquire()) {
          balances.merge(from, -1, Integer::sum);
          balances.merge(to, 1, Integer::sum);
          both.ensureValid();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

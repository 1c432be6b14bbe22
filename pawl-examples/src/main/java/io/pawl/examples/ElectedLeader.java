package io.pawl.examples;

import io.pawl.Candidacy;
import io.pawl.Election;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** Two candidates: one leads, and when its client closes the other takes over. */
public final class ElectedLeader {

  private ElectedLeader() {}

  /** Takes no arguments. */
  public static void main(String[] arguments) throws InterruptedException {
    List<Long> tokens = new CopyOnWriteArrayList<>();
    try (MemoryStore store = new MemoryStore();
        Pawl one = Pawl.over(store);
        Pawl two = Pawl.over(store)) {
      Election election = two.election("shipping");
      CountDownLatch firstLeads = new CountDownLatch(1);
      CountDownLatch secondLeads = new CountDownLatch(1);

      Candidacy first =
          one.election("shipping").stand("node 1", lease -> lead(lease, tokens, firstLeads));
      firstLeads.await();
      System.out.println("leader: " + election.leader().orElseThrow().description());
      Candidacy second = election.stand("node 2", lease -> lead(lease, tokens, secondLeads));

      first.close(); // its body has ended when this returns
      secondLeads.await();
      System.out.println("leader: " + election.leader().orElseThrow().description());
      second.close();
    }
    if (tokens.size() != 2 || tokens.get(0) >= tokens.get(1)) {
      throw new IllegalStateException("leaders' tokens do not rise: " + tokens);
    }
  }

  /** Leads until interrupted: when it closes, resigns, or cannot renew its lease. */
  private static void lead(Lease lease, List<Long> tokens, CountDownLatch leads)
      throws InterruptedException {
    tokens.add(lease.token());
    leads.countDown();
    new CountDownLatch(1).await(); // the work of a leader
  }
}

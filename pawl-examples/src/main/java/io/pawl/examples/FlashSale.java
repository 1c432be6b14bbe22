package io.pawl.examples;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.OperationId;
import io.pawl.counter.Update;
import io.pawl.memory.MemoryStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A hundred impatient buyers and ten prizes: everybody asks three times under the number of his
 * order, and exactly ten win.
 */
public final class FlashSale {

  private static final int BUYERS = 100;
  private static final int PRIZES = 10;

  private FlashSale() {}

  /** Takes no arguments. */
  public static void main(String[] arguments) throws InterruptedException {
    AtomicInteger winners = new AtomicInteger();
    try (MemoryStore store = new MemoryStore();
        Pawl pawl = Pawl.over(store)) {
      Counter prizes = pawl.counter("prizes");
      prizes.update(Update.set(PRIZES));
      List<Thread> buyers = new ArrayList<>();
      for (int i = 0; i < BUYERS; i++) {
        String order = "order-" + i;
        buyers.add(new Thread(() -> buy(prizes, order, winners)));
      }
      buyers.forEach(Thread::start);
      for (Thread buyer : buyers) {
        buyer.join();
      }
      if (prizes.get() != 0 || winners.get() != PRIZES) {
        throw new IllegalStateException(winners + " won, and " + prizes.get() + " are left");
      }
    }
    System.out.println(PRIZES + " prizes, " + BUYERS + " buyers, " + winners + " winners");
  }

  private static void buy(Counter prizes, String order, AtomicInteger winners) {
    boolean won = false;
    for (int tries = 0; tries < 3; tries++) {
      won = prizes.tryTake(1, OperationId.of(order)).isApplied(); // the same answer each time
    }
    if (won) {
      winners.incrementAndGet();
    }
  }
}

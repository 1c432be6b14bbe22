package io.pawl.bench.suite;

import io.pawl.bench.rival.LettucePair;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.RedissonLocks;
import io.pawl.bench.rival.Rival;

/** A fresh JVM of {@link RedisConnectSuite}: from main to the first lease. */
final class ConnectFork {

  private ConnectFork() {}

  /**
   * @param arguments side, address
   */
  public static void main(String[] arguments) {
    long from = System.nanoTime();
    int status = 0;
    try (Rival.Client client = rival(arguments[0]).connect(arguments[1])) {
      Rival.Turn turn = client.lock("first");
      turn.acquire();
      System.out.println("leased " + (System.nanoTime() - from) / 1e6);
      turn.release();
    } catch (InterruptedException | RuntimeException e) {
      e.printStackTrace();
      status = 1;
    }
    System.exit(status);
  }

  /** Loads no class of the others; their names are constants. */
  private static Rival rival(String side) {
    if (side.equals(PawlRival.PASSING)) {
      return PawlRival.passing("redis");
    }
    if (side.equals(LettucePair.NAME)) {
      return new LettucePair();
    }
    return new RedissonLocks(RedissonLocks.Kind.PLAIN);
  }
}

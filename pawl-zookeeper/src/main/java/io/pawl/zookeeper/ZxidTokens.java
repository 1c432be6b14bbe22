package io.pawl.zookeeper;

import io.pawl.error.StoreException;
import io.pawl.spi.Standing;

/**
 * Fencing tokens made of the transaction in which a claim's node was created: 15 bits of the epoch,
 * 32 of the counter, and 6 for a hold's own range. Nodes are created in the order of the queue, so
 * tokens grow along it; and ZooKeeper never uses a transaction number again.
 */
final class ZxidTokens {

  /** How many tokens a hold has at most. */
  static final int PER_HOLD = 64;

  private static final int RANGE_BITS = 6;
  private static final int COUNTER_BITS = 32;
  private static final long LAST_EPOCH = (1L << 15) - 1;

  private ZxidTokens() {}

  /**
   * @throws StoreException when the epoch does not fit, or the floor is not below
   */
  static Standing.Held of(String lock, long zxid, int wanted, long floor) {
    long first = first(lock, zxid);
    if (first <= floor) {
      throw new StoreException(
          "lock '"
              + lock
              + "': the service's next token, "
              + first
              + ", is not larger than "
              + floor
              + ", which was granted elsewhere before; use another name, or a store that counts"
              + " tokens up");
    }
    return new Standing.Held(first, first + Math.min(wanted, PER_HOLD) - 1);
  }

  static long first(String lock, long zxid) {
    if (zxid >>> COUNTER_BITS > LAST_EPOCH) {
      throw new StoreException(
          "lock '"
              + lock
              + "': the ensemble is in epoch "
              + (zxid >>> COUNTER_BITS)
              + ", and fencing tokens have room for "
              + LAST_EPOCH
              + "; move the locks to a new ensemble, and fenced resources to new names");
    }
    return Math.max(1, zxid << RANGE_BITS);
  }
}

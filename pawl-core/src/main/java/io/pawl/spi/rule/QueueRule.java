package io.pawl.spi.rule;

import io.pawl.spi.Kind;
import io.pawl.spi.Mode;

/**
 * Who holds, for stores that keep the claims of a lock in one order, in which a claim never moves
 * forward but by the end of one before it: services with sessions, such as ZooKeeper and etcd. A
 * claim is held as soon as it fits beside all that stand before it, and then until it ends. So the
 * order is that of {@link GrantRule}: first come, first served, readers together, and nobody
 * overtakes a claim that wants more.
 *
 * <p>Build one by going through the claims from the first to the last. Not thread-safe.
 */
public final class QueueRule {

  private final long all;
  private long used;

  /**
   * @param kind the kind of the lock
   */
  public QueueRule(Kind kind) {
    this.all = kind.isSemaphore() ? kind.capacity() : GrantRule.ALL_OF_A_LOCK;
  }

  /** Returns whether a claim of {@code mode}, which stands next in the order, is held. */
  public boolean holdsNext(Mode mode) {
    used += GrantRule.units(mode);
    return used <= all;
  }

  /**
   * Returns whether an exclusive or shared claim can be held while one of {@code before} stands
   * before it: the nearest claim of which this is not so is the one to watch.
   */
  public static boolean passes(Mode mode, Mode before) {
    return mode instanceof Mode.Shared && before instanceof Mode.Shared;
  }
}

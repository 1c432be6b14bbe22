package io.pawl.checker;

import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A lock, of which leases are taken and given back one after another. */
final class LockModel implements Model<LockModel.State, LockModel.Call> {

  /**
   * One call.
   *
   * @param takes whether it took the lease of this token; otherwise it ended it
   */
  record Call(boolean takes, Share share, long token) {}

  /**
   * Who has it.
   *
   * @param held units by token
   * @param last the largest token so far
   * @param lastExclusive the largest of those who had all
   */
  record State(SortedMap<Long, Integer> held, long last, long lastExclusive) {}

  @Override
  public State initial() {
    return new State(new TreeMap<>(), Long.MIN_VALUE, Long.MIN_VALUE);
  }

  @Override
  public @Nullable State after(State state, Call call) {
    SortedMap<Long, Integer> held = new TreeMap<>(state.held());
    if (!call.takes()) {
      return held.remove(call.token()) == null
          ? null
          : new State(held, state.last(), state.lastExclusive());
    }
    long used = call.share().units();
    for (int units : held.values()) {
      used += units;
    }
    boolean grows =
        call.share().isPermits()
            ? !held.containsKey(call.token())
            : call.token() > (call.share().isExclusive() ? state.last() : state.lastExclusive());
    if (used > call.share().capacity() || !grows) {
      return null;
    }
    held.put(call.token(), call.share().units());
    long lastExclusive = call.share().isExclusive() ? call.token() : state.lastExclusive();
    return new State(held, Math.max(state.last(), call.token()), lastExclusive);
  }
}

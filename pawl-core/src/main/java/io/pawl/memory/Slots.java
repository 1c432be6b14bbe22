package io.pawl.memory;

import io.pawl.spi.Bell;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Kind;
import io.pawl.spi.rule.LockState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The locks of a memory store: those that somebody holds or waits for, which a sweep goes through
 * in turns, and the idle ones that were used last. Guarded by the store's mutex.
 */
final class Slots {

  private static final int MAX_IDLE = 10_000;

  /** As long as there are no more, a turn of the sweep's is not worth a request's time. */
  private static final int FEW = 1_000;

  private static final int REQUESTS_PER_TURN_OF_FEW = 8;

  /** An idle lock that once had more claims is kept without their empty tables. */
  private static final int USUAL_CLAIMS = 16;

  private final HashMap<String, Slot> busy = new HashMap<>();

  /** The busy ones in no order: one that leaves gives its place to the last. */
  private final ArrayList<Slot> ring = new ArrayList<>();

  private int swept;
  private int requests;

  private final LinkedHashMap<String, Slot> idle = new LinkedHashMap<>();

  /** The greatest of all locks that it does not know any more. */
  private long forgottenToken;

  /** A lock, and the bells of those who wait for it. */
  static final class Slot {
    private final LockState state;
    private final Map<ClaimId, Bell> bells = new HashMap<>();
    private int place = -1;
    private boolean large;

    private Slot(LockState state) {
      this.state = state;
    }

    LockState state() {
      return state;
    }

    Map<ClaimId, Bell> bells() {
      return bells;
    }

    /** Notes how many claims it has. */
    void measure() {
      int most = Math.max(state.holders().size(), state.withdrawn().size());
      large |= Math.max(most, state.waiters().size()) > USUAL_CLAIMS;
    }

    boolean isWanted() {
      return !state.holders().isEmpty() || !state.waiters().isEmpty();
    }
  }

  /** The one of {@code lock}, which counts as busy until it {@linkplain #rest rests}. */
  Slot of(String lock) {
    Slot slot = busy.get(lock);
    if (slot == null) {
      Slot known = idle.remove(lock);
      slot = known == null ? new Slot(new LockState(lock, forgottenToken)) : known;
      busy.put(lock, slot);
      slot.place = ring.size();
      ring.add(slot);
    }
    return slot;
  }

  /** An idle one is kept for its kind and its tokens, while it is one of those used last. */
  void rest(Slot slot) {
    String lock = slot.state.lock();
    busy.remove(lock);
    Slot last = ring.remove(ring.size() - 1);
    if (last != slot) {
      ring.set(slot.place, last);
      last.place = slot.place;
    }
    Kind kind = slot.state.kind();
    long lastToken = slot.state.lastToken();
    if (kind == null) {
      forget(slot);
      return;
    }
    idle.put(lock, slot.large ? new Slot(new LockState(lock, kind, lastToken)) : slot);
    if (idle.size() > MAX_IDLE) {
      Iterator<Slot> eldest = idle.values().iterator();
      forget(eldest.next());
      eldest.remove();
    }
  }

  private void forget(Slot slot) {
    forgottenToken = Math.max(forgottenToken, slot.state.lastToken());
  }

  /** Each busy one in its turn, where a request is to look at another than its own. */
  @Nullable Slot next() {
    boolean due = ring.size() > FEW || ++requests % REQUESTS_PER_TURN_OF_FEW == 0;
    if (!due || ring.isEmpty()) {
      return null;
    }
    swept = swept + 1 < ring.size() ? swept + 1 : 0;
    return ring.get(swept);
  }

  List<Slot> byName() {
    List<Slot> sorted = new ArrayList<>(ring);
    sorted.sort(Comparator.comparing(slot -> slot.state.lock()));
    return sorted;
  }

  boolean knows(String lock) {
    return busy.containsKey(lock) || idle.containsKey(lock);
  }

  /** How many are busy. */
  int size() {
    return busy.size();
  }
}

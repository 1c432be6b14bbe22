package io.pawl.composite;

import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the gate of changes of capacity until it has heard. Whoever tells looks at the truth
 * afterwards: where that has changed meanwhile, two may have told in the other order.
 */
final class GateKinds {

  /** What locks are at the truth. */
  interface Truth {
    @Nullable Kind kindOf(String lock);
  }

  private static final Logger log = LoggerFactory.getLogger(GateKinds.class);

  private static final int MOST_UNHEARD = 1_000;
  private static final long PAUSE_NANOS = 1_000_000_000;

  private final Gate gate;
  private final Truth truth;
  private final Threads threads;

  /** Locks of whose change the gate may not have heard, with the number of their latest mark. */
  private final Map<String, Long> unheard = new ConcurrentHashMap<>();

  private final AtomicLong marks = new AtomicLong();
  private final AtomicBoolean telling = new AtomicBoolean();

  GateKinds(Gate gate, Truth truth, Threads threads) {
    this.gate = gate;
    this.truth = truth;
    this.threads = threads;
  }

  /** The truth has changed; whatever becomes of the gate, that stands. May block. */
  void changed(String lock) {
    mark(lock);
    tell(lock);
  }

  private void mark(String lock) {
    if (unheard.size() < MOST_UNHEARD || unheard.containsKey(lock)) {
      unheard.put(lock, marks.incrementAndGet());
    }
  }

  /**
   * Soon tells the gate what it has not heard: else who wants an additional permit would wait there
   * for as long as others have the rest. Asked for whenever the gate is back, at each renewal and
   * at each sweep.
   */
  void tellAgain() {
    if (!unheard.isEmpty() && gate.isThere() && telling.compareAndSet(false, true)) {
      try {
        threads.inBackgroundAfter(PAUSE_NANOS, this::tellAll);
      } catch (RuntimeException | Error e) {
        telling.set(false);
        log.debug("the gate will be told of changed capacities a renewal later", e);
      }
    }
  }

  private void tellAll() {
    try {
      unheard.keySet().forEach(this::tell);
    } finally {
      telling.set(false);
    }
  }

  private void tell(String lock) {
    if (!gate.isThere()) {
      return;
    }
    try {
      Long mark = unheard.get(lock);
      Kind kind = truth.kindOf(lock);
      boolean heard = kind == null || (hears(lock, kind) && kind.equals(truth.kindOf(lock)));
      if (!heard) {
        mark(lock); // another one who told meanwhile may have removed it
      } else if (mark != null) {
        unheard.remove(lock, mark);
      }
    } catch (RuntimeException | Error e) {
      log.debug("the gate was not told of lock '{}'; it will be", lock, e);
    }
  }

  /** Also where the gate cannot be told of this lock, of which the truth is asked then. */
  private boolean hears(String lock, Kind kind) {
    return gate.hears(
        store ->
            store instanceof Inspectable inspectable
                ? inspectable.setKind(lock, kind).thenApply(done -> true)
                : CompletableFuture.completedFuture(true));
  }
}

package io.pawl.composite;

import io.pawl.spi.ClaimId;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.LockStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The truth as it stands, and behind it those who wait at the gate. */
final class GateInspection {

  private static final Logger log = LoggerFactory.getLogger(GateInspection.class);

  private static final int MOST_UNHEARD = 1_000;
  private static final long PAUSE_NANOS = 1_000_000_000;

  private final Gate gate;
  private final LockStore truth;
  private final Threads threads;

  /** Locks of whose change the gate did not hear. */
  private final Set<String> unheard = ConcurrentHashMap.newKeySet();

  private final AtomicBoolean telling = new AtomicBoolean();

  GateInspection(Gate gate, LockStore truth, Threads threads) {
    this.gate = gate;
    this.truth = truth;
    this.threads = threads;
  }

  private Inspectable truth() {
    if (truth instanceof Inspectable inspectable) {
      return inspectable;
    }
    throw new UnsupportedOperationException(truth.describe() + " cannot be looked into");
  }

  CompletionStage<List<LockView>> list(int limit) {
    return threads.then(
        truth().list(limit),
        views -> {
          List<LockView> atGate =
              gate.ask(Inspectable.class, inspectable -> inspectable.list(limit));
          Map<String, LockView> waiting = new HashMap<>();
          if (atGate != null) {
            atGate.forEach(view -> waiting.put(view.name(), view));
          }
          return views.stream().map(view -> merged(view, waiting.get(view.name()))).toList();
        });
  }

  CompletionStage<Optional<LockView>> show(String lock) {
    return threads.then(truth().show(lock), view -> view.map(known -> merged(known, atGate(lock))));
  }

  private @Nullable LockView atGate(String lock) {
    Optional<LockView> view = gate.ask(Inspectable.class, inspectable -> inspectable.show(lock));
    return view == null ? null : view.orElse(null);
  }

  private static LockView merged(LockView view, @Nullable LockView atGate) {
    if (atGate == null) {
      return view;
    }
    Set<ClaimId> known = new HashSet<>();
    Stream.concat(view.holders().stream(), view.waiters().stream())
        .forEach(claim -> known.add(claim.id()));
    List<ClaimView> waiters = new ArrayList<>(view.waiters());
    atGate.waiters().stream().filter(claim -> known.add(claim.id())).forEach(waiters::add);
    return new LockView(view.name(), view.kind(), view.lastToken(), view.holders(), waiters);
  }

  /** Both parts must let go of it, or those who wait at the gate would wait for its lease. */
  CompletionStage<Boolean> evict(String lock, long token) {
    return threads.then(
        truth()
            .show(lock)
            .thenCompose(
                view -> {
                  Set<ClaimId> holders = new HashSet<>();
                  view.ifPresent(
                      known ->
                          known.holders().stream()
                              .filter(claim -> has(claim, token))
                              .forEach(claim -> holders.add(claim.id())));
                  return truth()
                      .evict(lock, token)
                      .thenApply(evicted -> evicted ? holders : Set.<ClaimId>of());
                }),
        evicted -> {
          evictAtGate(lock, claim -> evicted.contains(claim.id()));
          return !evicted.isEmpty();
        });
  }

  private static boolean has(ClaimView claim, long token) {
    return claim.token() <= token && token <= claim.lastToken();
  }

  private void evictAtGate(String lock, Predicate<ClaimView> which) {
    LockView view = atGate(lock);
    if (view != null) {
      view.holders().stream()
          .filter(which)
          .forEach(
              claim ->
                  gate.ask(
                      Inspectable.class, inspectable -> inspectable.evict(lock, claim.token())));
    }
  }

  CompletionStage<Boolean> setKind(String lock, Kind kind) {
    return threads.then(
        truth().setKind(lock, kind),
        done -> {
          if (done) {
            if (unheard.size() < MOST_UNHEARD) {
              unheard.add(lock);
            }
            tellGate(lock, kind);
          }
          return done;
        });
  }

  private void tellGate(String lock, Kind kind) {
    if (hears(lock, kind)) {
      unheard.remove(lock);
    }
  }

  private boolean hears(String lock, Kind kind) {
    return gate.ask(Inspectable.class, inspectable -> inspectable.setKind(lock, kind)) != null;
  }

  /**
   * Soon tells the gate what it has not heard: else who wants an additional permit would wait there
   * for as long as others have the rest. Asked for whenever the gate is back, and at each renewal.
   */
  void tellAgain() {
    if (!unheard.isEmpty() && !gate.isAway() && telling.compareAndSet(false, true)) {
      threads.inBackgroundAfter(PAUSE_NANOS, this::tellAll);
    }
  }

  private void tellAll() {
    try {
      for (String lock : unheard) {
        try {
          tellAnew(lock);
        } catch (RuntimeException | Error e) {
          log.debug("the gate was not told of lock '{}'; it will be", lock, e);
        }
      }
    } finally {
      telling.set(false);
    }
  }

  /** What was told may have changed meanwhile. */
  private void tellAnew(String lock) {
    Kind kind = kindOf(lock);
    if (kind == null) {
      unheard.remove(lock);
    } else if (hears(lock, kind)) {
      if (kind.equals(kindOf(lock))) {
        unheard.remove(lock);
      } else {
        unheard.add(lock);
      }
    }
  }

  private @Nullable Kind kindOf(String lock) {
    return truth().show(lock).toCompletableFuture().join().map(LockView::kind).orElse(null);
  }
}

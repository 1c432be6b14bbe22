package io.pawl.composite;

import io.pawl.concurrent.Uninterruptibly;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The truth as it stands, and behind it those who wait at the gate. */
final class GateInspection {

  private final Gate gate;
  private final LockStore truth;
  private final Threads threads;
  private final GateKinds kinds;

  GateInspection(Gate gate, LockStore truth, Threads threads) {
    this.gate = gate;
    this.truth = truth;
    this.threads = threads;
    this.kinds = new GateKinds(gate, this::kindOf, threads);
  }

  /** See {@link GateKinds#tellAgain}. */
  void tellAgain() {
    kinds.tellAgain();
  }

  private @Nullable Kind kindOf(String lock) {
    return Uninterruptibly.join(truth().show(lock).toCompletableFuture())
        .map(LockView::kind)
        .orElse(null);
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
              gate.askAside(Inspectable.class, inspectable -> inspectable.list(limit));
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

  /** Who waits at the gate waits for what the name is, though the truth has not heard of it. */
  CompletionStage<Boolean> setKind(String lock, Kind kind) {
    return threads
        .then(
            truth().show(lock),
            view -> view.isPresent() && isOfAnotherSort(view.get(), kind) && isWantedAtGate(lock))
        .thenCompose(
            wanted -> wanted ? CompletableFuture.completedFuture(false) : setAtTruth(lock, kind));
  }

  private static boolean isOfAnotherSort(LockView view, Kind kind) {
    Kind known = view.kind();
    return known != null && known.isSemaphore() != kind.isSemaphore();
  }

  private boolean isWantedAtGate(String lock) {
    LockView view = atGate(lock);
    return view != null && !(view.holders().isEmpty() && view.waiters().isEmpty());
  }

  private CompletionStage<Boolean> setAtTruth(String lock, Kind kind) {
    return threads.then(
        truth().setKind(lock, kind),
        done -> {
          if (done) {
            kinds.changed(lock);
          }
          return done;
        });
  }
}

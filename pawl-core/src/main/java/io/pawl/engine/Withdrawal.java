package io.pawl.engine;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Claim;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives one claim back: again and again until the store confirms it, or until the claim has run out
 * there anyway.
 */
final class Withdrawal {

  private static final Logger log = LoggerFactory.getLogger(Withdrawal.class);

  private final Engine engine;
  private final LiveClaim claim;
  private final CompletableFuture<Void> confirmed = new CompletableFuture<>();

  Withdrawal(Engine engine, LiveClaim claim) {
    this.engine = engine;
    this.claim = claim;
  }

  /** Completes when the store has confirmed it, or exceptionally when it could not be told. */
  CompletableFuture<Void> confirmed() {
    return confirmed;
  }

  /** There is nothing to give back any more. */
  void confirm() {
    engine.registry().ended(claim);
    confirmed.complete(null);
  }

  /** What to run to have {@code gone} given back, as it is known now. */
  Runnable of(Claim gone) {
    Claim asked = claim.claim();
    long longest = Math.max(asked.lease().toNanos(), asked.minHold().toNanos());
    long runsOutAt = engine.time().nanos() + longest;
    return () -> send(gone, runsOutAt, 1);
  }

  private void send(Claim gone, long runsOutAt, int tries) {
    StoreCalls.call(() -> engine.store().withdraw(gone))
        .whenComplete(
            (nothing, error) -> {
              if (error == null) {
                confirm();
              } else {
                failed(gone, runsOutAt, tries, failure(gone, error));
              }
            });
  }

  private StoreException failure(Claim gone, Throwable error) {
    return StoreCalls.asStoreException("lock '" + gone.lock() + "'", engine.store(), error);
  }

  private void failed(Claim gone, long runsOutAt, int tries, StoreException cause) {
    engine.observerLater().storeFailed(gone.lock(), cause);
    boolean useful = engine.time().nanos() < runsOutAt && !engine.lifecycle().isAbandoned();
    if (useful && mayPass(cause)) {
      Runnable retry = () -> engine.run(() -> send(gone, runsOutAt, tries + 1));
      engine.time().after(StoreCalls.pauseNanos(tries, engine.random()), retry);
    } else {
      if (claim.wasRefused()) {
        log.debug("lock '{}' was refused, and so is the withdrawal", gone.lock(), cause);
      } else if (cause instanceof StoreUnavailableException) { // of which each lock here may tell
        log.warn(
            "lock '{}' was not given back and will run out: {}", gone.lock(), cause.getMessage());
      } else {
        log.warn("lock '{}' was not given back and will run out", gone.lock(), cause);
      }
      giveUp(cause);
    }
  }

  /** An error, such as a lack of memory, says nothing of what the store would answer next time. */
  private static boolean mayPass(StoreException cause) {
    return cause instanceof StoreUnavailableException || cause.getCause() instanceof Error;
  }

  /** It is not tried again. */
  void giveUp(StoreException cause) {
    engine.registry().ended(claim);
    confirmed.completeExceptionally(cause);
  }
}

package io.pawl.zookeeper;

import io.pawl.concurrent.Futures;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Diagnosable;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Locks on ZooKeeper 3.6 or newer: a single server or an ensemble. Each claim is a node under a
 * session of the length of its lease, and waits for the nodes before it: one round trip to take a
 * free lock, one to release it. What a majority of the ensemble has agreed to survives the crash of
 * any client and of a minority of the servers. The package's description has the nodes and the
 * arguments for what is promised; docs/ZOOKEEPER.md says what it costs and what is refused.
 *
 * <p>Every stage completes within {@code timeout} (5 s unless the URL says otherwise). Thread-safe.
 * Stages complete, and bells ring, on the event threads of ZooKeeper's client, on the store's
 * clock, or on a thread that makes a request; never under a mutex.
 */
public final class ZooKeeperStore implements LockStore, Inspectable, Diagnosable {

  private final Settings settings;
  private final Failures failures;
  private final Clock clock = new Clock();
  private final QueuedClaims claims;
  private final Inspection inspection;

  private ZooKeeperStore(Settings settings) {
    this.settings = settings;
    this.failures = new Failures(settings.shown());
    this.claims = new QueuedClaims(settings, clock, failures);
    this.inspection = new Inspection(claims);
  }

  /**
   * Connects to {@code url}, whose form {@link ZooKeeperProvider} explains. Close the store at the
   * end.
   *
   * @throws IllegalArgumentException for an invalid URL, naming the part
   * @throws StoreException when the service cannot be reached or used, saying what to change
   */
  public static ZooKeeperStore connect(String url) {
    return open(Settings.parse(StoreUrl.parse(url)));
  }

  static ZooKeeperStore open(Settings settings) {
    ZooKeeperStore store = new ZooKeeperStore(settings);
    try {
      store.begin();
      return store;
    } catch (RuntimeException | Error e) { // without TLS's jars, say
      store.close();
      throw e;
    }
  }

  private void begin() {
    if (settings.isTls()) {
      settings.tls();
    }
    Session base = claims.base();
    CompletableFuture<Void> made = new CompletableFuture<>();
    base.admit(
        () -> Futures.follow(made, claims.locks().makeBase(base.ask())),
        made::completeExceptionally);
    try {
      Uninterruptibly.get(made, settings.timeout().toNanos());
    } catch (ExecutionException e) {
      throw failures.of(e.getCause());
    } catch (TimeoutException e) {
      throw StoreUnavailableException.unsent(
          settings.shown()
              + ": no server answered within "
              + settings.timeout().toMillis()
              + " ms; check the hosts and ports, "
              + (settings.isTls() ? "that they speak TLS and trustStore trusts them, " : "")
              + "and that the ensemble has a majority",
          null);
    }
    claims.sessions().learnTick();
  }

  private <T> CompletionStage<T> bounded(Supplier<CompletableFuture<T>> verb) {
    CompletableFuture<T> answer;
    try {
      answer = verb.get();
    } catch (StoreException e) {
      return CompletableFuture.failedFuture(e);
    }
    return clock
        .bounded(answer, settings.timeout().toNanos(), this::late)
        .exceptionally(
            error -> {
              throw new CompletionException(failures.of(error));
            });
  }

  /** Whatever has not even been sent by now is refused first, and its caller hears of that. */
  private StoreUnavailableException late() {
    StoreUnavailableException late =
        new StoreUnavailableException(
            settings.shown() + ": no answer within " + settings.timeout().toMillis() + " ms");
    try {
      claims.sessions().refuseLate();
    } catch (OutOfMemoryError e) { // the caller waits for an answer all the same
      late.addSuppressed(e);
    }
    return late;
  }

  /** One round trip to take a free lock, two to be told to wait. */
  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    return bounded(() -> claims.attempt(claim, bell));
  }

  /** One round trip for each length of lease, and one transaction. */
  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> renewed) {
    return bounded(() -> claims.renew(renewed));
  }

  /** One round trip. */
  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    return bounded(() -> claims.withdraw(claim));
  }

  @Override
  public int renewBatch() {
    return QueuedClaims.RENEW_BATCH;
  }

  /**
   * By length of lease, since each has a session of its own; holds apart from claims that wait,
   * whose renewal looks at what stands before them as well.
   */
  @Override
  public int renewGroup(Claim claim) {
    return 2 * Long.hashCode(claim.leaseMillis()) + (claims.isHeld(claim.id()) ? 1 : 0);
  }

  /** Two round trips, and one for each 500 locks and claims. */
  @Override
  public CompletionStage<List<LockView>> list(int limit) {
    return bounded(() -> inspection.list(limit));
  }

  /** Two round trips. */
  @Override
  public CompletionStage<Optional<LockView>> show(String lock) {
    return bounded(() -> inspection.show(lock));
  }

  /** Three round trips. */
  @Override
  public CompletionStage<Boolean> evict(String lock, long token) {
    return bounded(() -> inspection.evict(lock, token));
  }

  /** Three round trips. */
  @Override
  public CompletionStage<Boolean> setKind(String lock, Kind kind) {
    return bounded(() -> inspection.setKind(lock, kind, 0));
  }

  @Override
  public List<Finding> diagnose() {
    return new Doctor(settings, claims).examine();
  }

  @Override
  public String describe() {
    return settings.shown();
  }

  /**
   * Ends the sessions under which nothing stands. The others run out, with the claims that are
   * still alive, by the time-out of their session: a lease and about two ticks later. Blocks for at
   * most 5 s, where servers are silent.
   */
  @Override
  public void close() {
    try {
      claims.close();
    } finally {
      clock.close();
    }
  }

  @Override
  public String toString() {
    return "ZooKeeperStore[" + describe() + "]";
  }
}

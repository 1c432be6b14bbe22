package io.pawl.composite;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.Diagnosable;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.LockStore;
import io.pawl.spi.Maintainable;
import io.pawl.spi.Measured;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store made of two: a fast <em>gate</em> that orders contenders and refuses early, and a
 * <em>truth</em> that alone grants and sells. Nothing depends on the gate being right: even if it
 * is gone, restarted empty or restored from a backup, exclusion, tokens and ledgers are the
 * truth's. See docs/GATE.md.
 *
 * <p>All clients of a service should use the same pair. Clients that use the truth alone are safe
 * too, but stand in its queue rather than the gate's.
 *
 * <p>Thread-safe. Verbs may block, even if neither part does.
 */
public final class GateStore
    implements LockStore, CounterStore, Inspectable, Diagnosable, Maintainable, Measured {

  private static final Logger log = LoggerFactory.getLogger(GateStore.class);
  private static final long SWEEP_NANOS = 30_000_000_000L;

  private final Gate gate;
  private final LockStore truth;
  private final boolean ownsParts;
  private final Duration gatePatience;
  private final Threads threads = new Threads();
  private final GateLocks locks;
  private final GateInspection inspection;
  private final @Nullable GateCounters counters;

  private GateStore(
      String gateDescription,
      @Nullable LockStore gate,
      Supplier<LockStore> gateOpener,
      LockStore truth,
      boolean ownsParts,
      GateOptions options) {
    this.truth = truth;
    this.ownsParts = ownsParts;
    this.gatePatience = options.gatePatience();
    this.gate = new Gate(gateDescription, gate, gateOpener, options, threads, this::gateIsBack);
    this.locks = new GateLocks(this.gate, truth, threads, System::nanoTime);
    this.inspection = new GateInspection(this.gate, truth, threads);
    this.counters =
        truth instanceof CounterStore counting && counting.hasCounters()
            ? counters(counting, options)
            : null;
    this.gate.start();
    sweepLater();
  }

  private GateCounters counters(CounterStore counting, GateOptions options) {
    RandomGenerator random = new java.util.Random();
    Mirror mirror = new Mirror(gate, counting, options, threads, System::nanoTime, random);
    return new GateCounters(gate, counting, options, threads, System::nanoTime, mirror);
  }

  /**
   * Returns a store over two parts that stay the caller's: closing it leaves them open.
   *
   * @throws IllegalArgumentException where both are the same store, whose counters would be
   *     overwritten with copies of them
   */
  public static GateStore over(LockStore gate, LockStore truth) {
    return over(gate, truth, GateOptions.defaults());
  }

  /** As {@link #over(LockStore, LockStore)}, with options. */
  public static GateStore over(LockStore gate, LockStore truth, GateOptions options) {
    if (gate == truth) {
      throw new IllegalArgumentException(
          truth.describe() + " cannot be gate and truth at once; name two stores");
    }
    return new GateStore(gate.describe(), gate, () -> gate, truth, false, options);
  }

  /**
   * Both parts are closed with this.
   *
   * @param gate null where it could not be reached yet
   */
  static GateStore owning(
      String gateDescription,
      @Nullable LockStore gate,
      Supplier<LockStore> gateOpener,
      LockStore truth,
      GateOptions options) {
    return new GateStore(gateDescription, gate, gateOpener, truth, true, options);
  }

  /** Returns whether the gate is left out at the moment, since it failed or did not answer. */
  public boolean isGateAway() {
    return gate.isAway();
  }

  private void gateIsBack() {
    locks.gateIsBack();
    if (counters != null) {
      counters.gateIsBack();
    }
    inspection.tellAgain();
  }

  private void sweepLater() {
    threads.inBackgroundAfter(
        SWEEP_NANOS,
        () -> {
          try {
            locks.sweep();
            inspection.tellAgain();
            if (counters != null) {
              counters.sweep();
            }
          } finally {
            sweepLater();
          }
        });
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    return locks.attempt(claim, bell);
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    inspection.tellAgain();
    return locks.renew(claims);
  }

  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    return locks.withdraw(claim);
  }

  /** One trip to the gate and then one to the truth, if these take several claims at once. */
  @Override
  public void together(Runnable calls) {
    locks.together(calls);
  }

  @Override
  public int renewGroup(Claim claim) {
    return locks.renewGroup(claim);
  }

  /** What both parts take in one trip. */
  @Override
  public int renewBatch() {
    return Math.min(gate.renewBatch(), truth.renewBatch());
  }

  /** That of the truth, after the gate was waited for in vain. */
  @Override
  public boolean servesOthers() {
    return truth.servesOthers();
  }

  @Override
  public Duration answerTime() {
    return truth.answerTime().plus(gatePatience);
  }

  /** Verbs wait for the gate on the calling thread. */
  @Override
  public boolean blocks() {
    return true;
  }

  @Override
  public CompletionStage<CounterAnswer> apply(CounterRequest request) {
    return counters().apply(request);
  }

  @Override
  public CompletionStage<Optional<CounterView>> read(String counter) {
    return counters().truth().read(counter);
  }

  @Override
  public CompletionStage<List<LedgerEntry>> history(String counter, int limit) {
    return counters().truth().history(counter, limit);
  }

  @Override
  public CompletionStage<List<CounterView>> list(String after, int limit) {
    return counters().truth().list(after, limit);
  }

  @Override
  public CompletionStage<Long> prune(String counter, Instant before) {
    return counters().truth().prune(counter, before);
  }

  @Override
  public boolean hasCounters() {
    return counters != null;
  }

  @Override
  public boolean isMaintained() {
    return truth instanceof Maintainable maintained && maintained.isMaintained();
  }

  /** Of the truth. A gate forgets by itself. */
  @Override
  public CompletionStage<Long> purge(Duration idle) {
    return maintained().purge(idle);
  }

  /** Of the truth, whose tokens these are. */
  @Override
  public CompletionStage<Long> raiseTokens(long by) {
    return maintained().raiseTokens(by);
  }

  private Maintainable maintained() {
    if (truth instanceof Maintainable maintained) {
      return maintained;
    }
    throw new UnsupportedOperationException(
        truth.describe() + " has nothing to maintain: locks are not kept for ever there");
  }

  private GateCounters counters() {
    if (counters == null) {
      throw new UnsupportedOperationException(
          truth.describe() + " has no counters; use another truth");
    }
    return counters;
  }

  @Override
  public CompletionStage<List<LockView>> list(int limit) {
    return inspection.list(limit);
  }

  @Override
  public CompletionStage<Optional<LockView>> show(String lock) {
    return inspection.show(lock);
  }

  @Override
  public CompletionStage<Boolean> evict(String lock, long token) {
    return inspection.evict(lock, token);
  }

  @Override
  public CompletionStage<Boolean> setKind(String lock, Kind kind) {
    return inspection.setKind(lock, kind);
  }

  /** Returns the findings of the gate and of the truth. */
  @Override
  public List<Finding> diagnose() {
    List<Finding> findings = new ArrayList<>();
    Diagnosable front = gate.as(Diagnosable.class);
    if (gate.isAway()) {
      String what = "gate " + gate.describe() + " does not answer; everything runs on the truth";
      findings.add(new Finding(Level.WARNING, what, "start it, or look at the network"));
    } else if (front != null) {
      findings(front).forEach(finding -> findings.add(prefixed("gate: ", finding)));
    }
    if (truth instanceof Diagnosable behind) {
      behind.diagnose().forEach(finding -> findings.add(prefixed("truth: ", finding)));
    }
    return findings;
  }

  /** Of a gate that cannot be examined, just that: it keeps nobody from hearing of the truth. */
  private static List<Finding> findings(Diagnosable gate) {
    try {
      return gate.diagnose();
    } catch (RuntimeException e) {
      String what = "cannot be examined: " + e.getMessage();
      return List.of(new Finding(Level.WARNING, what, "ask the doctor of the gate alone"));
    }
  }

  /** Those of the truth. A gate comes and goes, and would begin to count anew. */
  @Override
  public Map<String, Long> figures() {
    Map<String, Long> figures = new TreeMap<>();
    if (truth instanceof Measured measured) {
      measured.figures().forEach((name, count) -> figures.put("truth." + name, count));
    }
    return figures;
  }

  private static Finding prefixed(String part, Finding finding) {
    return new Finding(finding.level(), part + finding.what(), finding.fix());
  }

  @Override
  public String describe() {
    return "gate " + gate.describe() + " before " + truth.describe();
  }

  /**
   * Waits for the gate's patience at most, if there is anything that it has not heard, and then
   * closes both parts, if they are its own.
   */
  @Override
  public void close() {
    if (locks.owesTheGate()) {
      tellTheGate();
    }
    gate.leave();
    threads.close();
    if (ownsParts) {
      try {
        gate.close();
      } finally {
        truth.close();
      }
    }
  }

  /** On a thread of its own: the workers may all be waiting for the truth. */
  private void tellTheGate() {
    try {
      CompletableFuture<Void> told =
          CompletableFuture.runAsync(
              locks::closing, task -> DaemonThreads.named("pawl-gate-close", task).start());
      boolean done = Uninterruptibly.await(told, gatePatience.toNanos());
      if (!done || told.isCompletedExceptionally()) {
        log.debug("gate {} was not told of all that it missed", gate.describe());
      }
    } catch (OutOfMemoryError noThread) {
      log.debug("gate {} is not told of what it missed", gate.describe(), noThread);
    }
  }
}

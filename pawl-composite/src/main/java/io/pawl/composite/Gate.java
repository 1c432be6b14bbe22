package io.pawl.composite;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.NameInUseException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.CounterStore;
import io.pawl.spi.Holder;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fast store, which may be away at any moment. Whoever asks it waits for {@link
 * GateOptions#gatePatience} at most; after a failure it is left out altogether, until a probe in
 * the background, every {@link GateOptions#gatePause}, finds that it answers again. No answer of it
 * is ever needed. What fails at one key leaves out that answer alone.
 */
final class Gate implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Gate.class);

  /**
   * The lock of the claims that find out whether it answers; they exclude nobody. Others like it,
   * with a number, are for parts of a gate that may fail alone.
   */
  private static final String PROBE = "pawl:gate-probe";

  /** So many that each primary of a large Cluster has one. */
  private static final int MOST_PROBES = 256;

  private static final long COMPLAINT_PAUSE_NANOS = 60_000_000_000L;

  private final String description;
  private final Supplier<LockStore> opener;
  private final GateOptions options;
  private final Threads threads;
  private final Runnable onBack;
  private final String client =
      "gate-" + Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, 36);
  private final AtomicLong probes = new AtomicLong();
  private final AtomicBoolean away = new AtomicBoolean();
  private final AtomicLong complainedNanos =
      new AtomicLong(System.nanoTime() - COMPLAINT_PAUSE_NANOS - 1);
  private volatile @Nullable LockStore store;
  private volatile boolean closed;

  /**
   * @param open null where it could not be reached yet
   * @param opener opens it, once it can be reached
   * @param onBack run on a worker when it answers again
   */
  Gate(
      String description,
      @Nullable LockStore open,
      Supplier<LockStore> opener,
      GateOptions options,
      Threads threads,
      Runnable onBack) {
    this.description = description;
    this.store = open;
    this.opener = opener;
    this.options = options;
    this.threads = threads;
    this.onBack = onBack;
  }

  /** To be called once, when {@code onBack} can be run. */
  void start() {
    if (store == null) {
      leaveOut(new StoreUnavailableException(description + " could not be reached"));
    }
  }

  String describe() {
    return description;
  }

  boolean isAway() {
    return away.get();
  }

  /** Whether it would be asked now. */
  boolean isThere() {
    return store != null && !closed && !away.get();
  }

  /** How many claims one renewal may carry. */
  int renewBatch() {
    LockStore open = store;
    return open == null ? Integer.MAX_VALUE : open.renewBatch();
  }

  /** The store as {@code type}; null where it is not open, or of another type. */
  <S> @Nullable S as(Class<S> type) {
    LockStore open = store;
    return type.isInstance(open) ? type.cast(open) : null;
  }

  /** Its answer, which is never null itself; null where it is away or fails. Waits for it. */
  <T> @Nullable T ask(Function<LockStore, CompletionStage<T>> verb) {
    return ask(LockStore.class, verb);
  }

  /** As {@link #ask(Function)}, null also where the store is not of {@code type}. */
  <S, T> @Nullable T ask(Class<S> type, Function<S, CompletionStage<T>> verb) {
    S open = as(type);
    Consumer<RuntimeException> failed =
        type == CounterStore.class ? this::failedAtCounter : this::failed;
    return open == null ? null : asked(open, verb, failed);
  }

  /**
   * As {@link #ask(Class, Function)}, for a question whose answer may take long though the gate is
   * well: that it fails is no reason to leave the gate out.
   */
  <S, T> @Nullable T askAside(Class<S> type, Function<S, CompletionStage<T>> verb) {
    S open = as(type);
    return open == null
        ? null
        : asked(open, verb, cause -> complain("failed at a long question; it is left out", cause));
  }

  private <S, T> @Nullable T asked(
      S open, Function<S, CompletionStage<T>> verb, Consumer<RuntimeException> failed) {
    if (closed || away.get()) {
      return null;
    }
    try {
      return await(called(verb, open));
    } catch (RuntimeException e) {
      failed.accept(e);
      return null;
    }
  }

  /** As {@link #ask}. Answers whether it was heard, if only to be told that this key fails. */
  boolean hears(Function<LockStore, CompletionStage<Boolean>> verb) {
    LockStore open = store;
    if (open == null || closed || away.get()) {
      return false;
    }
    try {
      return await(called(verb, open));
    } catch (RuntimeException e) {
      failed(e);
      return isAboutOneKey(e) && !(e.getCause() instanceof Error);
    }
  }

  /**
   * The answers of all {@code verbs}, asked {@linkplain LockStore#together together}: null where
   * {@link #ask} would answer null.
   */
  <T> List<@Nullable T> askTogether(List<Function<LockStore, CompletionStage<T>>> verbs) {
    return away.get() ? noAnswers(verbs.size()) : askAnyway(verbs);
  }

  /** As {@link #askTogether}, also where it was left out: it may be there again. */
  <T> List<@Nullable T> askAnyway(List<Function<LockStore, CompletionStage<T>>> verbs) {
    LockStore open = store;
    if (open == null || closed) {
      return noAnswers(verbs.size());
    }
    List<@Nullable T> answers = new ArrayList<>();
    long giveUpAt = System.nanoTime() + options.gatePatience().toNanos();
    for (CompletionStage<T> asked : allAsked(open, verbs)) {
      T answer = null;
      try {
        answer = await(asked, giveUpAt);
      } catch (RuntimeException e) {
        failed(e);
      }
      answers.add(answer);
    }
    return answers;
  }

  private static <T> List<@Nullable T> noAnswers(int count) {
    return new ArrayList<>(Collections.nCopies(count, null));
  }

  private <T> List<CompletionStage<T>> allAsked(
      LockStore open, List<Function<LockStore, CompletionStage<T>>> verbs) {
    List<CompletionStage<T>> asked = new ArrayList<>();
    try {
      open.together(() -> verbs.forEach(verb -> asked.add(called(verb, open))));
    } catch (RuntimeException | Error e) {
      failed(e instanceof RuntimeException known ? known : unexpected(e));
      while (asked.size() < verbs.size()) {
        asked.add(CompletableFuture.failedFuture(e));
      }
    }
    return asked;
  }

  /** What it throws, it answers: an {@link Error} too, which is no reason to fail whoever asks. */
  private static <S, T> CompletionStage<T> called(Function<S, CompletionStage<T>> verb, S open) {
    try {
      return verb.apply(open);
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * What it says of one key is no reason to leave it out: the truth is asked for that one instead,
   * and says so too, or knows better.
   */
  private void failed(RuntimeException cause) {
    if (!isAboutOneKey(cause)) {
      leaveOut(cause);
    } else if (!(cause instanceof NameInUseException)) {
      complain("failed at one key; the truth is asked in its place", cause);
    }
  }

  /** An account may have locks alone; the probe takes a lock, and would find all well each time. */
  private void failedAtCounter(RuntimeException cause) {
    if (cause instanceof StoreDeniedException) {
      complain("denies counters; the truth is asked in their place", cause);
    } else {
      failed(cause);
    }
  }

  private static boolean isAboutOneKey(RuntimeException cause) {
    return cause instanceof StoreException
        && !(cause instanceof StoreUnavailableException)
        && !(cause instanceof StoreDeniedException);
  }

  private void complain(String what, RuntimeException cause) {
    long now = System.nanoTime();
    long last = complainedNanos.get();
    if (now - last > COMPLAINT_PAUSE_NANOS && complainedNanos.compareAndSet(last, now)) {
      log.warn("gate {} {}", description, what, cause);
    }
  }

  private <T> T await(CompletionStage<T> answer) {
    return await(answer, System.nanoTime() + options.gatePatience().toNanos());
  }

  private <T> T await(CompletionStage<T> answer, long giveUpAt) {
    try {
      return Uninterruptibly.get(answer.toCompletableFuture(), giveUpAt - System.nanoTime());
    } catch (TimeoutException e) {
      throw new StoreUnavailableException(
          description + " gave no answer within " + options.gatePatience(), e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : unexpected(e.getCause());
    }
  }

  private StoreException unexpected(@Nullable Throwable cause) {
    return new StoreException(description + " failed unexpectedly", cause);
  }

  private void leaveOut(RuntimeException cause) {
    if (away.compareAndSet(false, true)) {
      probeLater(); // whatever becomes of the log
      log.warn("gate {} is left out until it answers again", description, cause);
    }
  }

  private void probeLater() {
    threads.after(options.gatePause().toNanos(), this::probe);
  }

  private void probe() {
    if (closed) {
      return;
    }
    try {
      LockStore open = open();
      for (Claim probe : newProbes(open)) {
        awaitAnswer(() -> open.renew(List.of(probe)));
        look(open, probe);
        take(open, probe);
      }
    } catch (RuntimeException | Error e) {
      probeLater(); // whatever becomes of the log
      log.debug("gate {} is still away", description, e);
      return;
    }
    away.set(false);
    onBack.run(); // whatever becomes of the log
    log.info("gate {} answers again", description);
  }

  /** A store may know without its server that it has no such claim, as etcd and ZooKeeper do. */
  private void look(LockStore open, Claim probe) {
    if (open instanceof Inspectable inspectable) {
      try {
        await(inspectable.show(probe.lock()));
      } catch (RuntimeException e) {
        if (e instanceof StoreUnavailableException) {
          throw e;
        }
      }
    }
  }

  /**
   * One that only answers questions would be left out and found again for ever: a Redis that is out
   * of memory or a replica, a database that somebody keeps locked.
   */
  private void take(LockStore open, Claim probe) {
    awaitAnswer(() -> open.attempt(probe, rung -> {}));
    awaitAnswer(() -> open.withdraw(probe));
  }

  /** What it says of the probe is an answer: a refusal of its short lease, or of a spoilt key. */
  private void awaitAnswer(Supplier<CompletionStage<?>> verb) {
    try {
      await(verb.get());
    } catch (RuntimeException e) {
      if (e instanceof StoreUnavailableException || e instanceof StoreDeniedException) {
        throw e;
      }
    }
  }

  /** One for each part of the gate: with one that is silent it would be left out for ever anew. */
  private Collection<Claim> newProbes(LockStore open) {
    Map<Integer, Claim> byPart = new LinkedHashMap<>();
    for (int i = 0; i < MOST_PROBES; i++) {
      Claim probe = newProbe(i == 0 ? PROBE : PROBE + "-" + i);
      byPart.putIfAbsent(open.renewGroup(probe), probe);
    }
    return byPart.values();
  }

  /** Lasts for as long as its answer may take: a Redis may have to confirm it until then. */
  private Claim newProbe(String lock) {
    Duration patience = options.gatePatience();
    return new Claim(
        lock,
        new ClaimId(client, probes.incrementAndGet()),
        Mode.SHARED,
        patience.compareTo(Claim.MIN_LEASE) > 0 ? patience : Claim.MIN_LEASE,
        Duration.ZERO,
        false,
        1,
        0,
        false,
        new Holder("", 0, "", "", ""));
  }

  private LockStore open() {
    LockStore open = store;
    if (open == null) {
      open = opener.get();
      store = open;
      if (closed) {
        open.close();
      }
    }
    return open;
  }

  /** From now on it is not asked. */
  void leave() {
    closed = true;
  }

  @Override
  public void close() {
    leave();
    LockStore open = store;
    if (open != null) {
      open.close();
    }
  }
}

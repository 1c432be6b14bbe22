package io.pawl.engine;

import io.pawl.concurrent.Futures;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.spi.LockStore;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases that nobody waits for, on a store that blocks whoever calls it: a worker makes each, or,
 * sooner, whoever asks for the same lock next, in the same trip. So what a client asks for comes
 * after what it has given back. A store that does not block keeps that order by itself, but for the
 * end of a sticky hold, which is nobody's call.
 */
final class LateReleases {

  private static final Logger log = LoggerFactory.getLogger(LateReleases.class);

  private final Engine engine;

  /** The last of each lock that has not been made. */
  private final ConcurrentHashMap<String, Late> pending = new ConcurrentHashMap<>();

  LateReleases(Engine engine) {
    this.engine = engine;
  }

  /** One that is going to be made. */
  final class Late {

    private final String lock;
    private final List<Runnable> calls;
    private final AtomicBoolean begun = new AtomicBoolean();
    private final CompletableFuture<Void> made = new CompletableFuture<>();
    private @Nullable Late before;
    private volatile @Nullable Thread maker;

    Late(String lock, List<Runnable> calls, @Nullable Late before) {
      this.lock = lock;
      this.calls = calls;
      this.before = before;
    }

    /**
     * Returns when its calls have been made, after those before it, by this thread or others. There
     * may be as many as a semaphore has permits.
     */
    void make() {
      Deque<Late> mine = new ArrayDeque<>();
      Late late = this;
      while (late != null && !late.begun.getAndSet(true)) {
        late.maker = Thread.currentThread();
        mine.push(late);
        late = late.before;
      }
      if (late != null && late.maker != Thread.currentThread()) {
        Uninterruptibly.join(late.made);
      }
      mine.forEach(Late::makeAlone);
    }

    private void makeAlone() {
      before = null;
      try {
        calls.forEach(Runnable::run);
      } catch (RuntimeException
          | Error e) { // of memory: those after it are given back all the same
        log.error("lock '{}': it could not be given back, and runs out", lock, e);
      } finally {
        pending.remove(lock, this);
        made.complete(null);
      }
    }
  }

  /** Has {@code calls}, which end claims for {@code lock}, made soon. */
  void add(String lock, List<Runnable> calls) {
    begin(plan(lock, calls));
  }

  /**
   * From now on whoever asks for {@code lock} has {@code calls} made first. Calls nobody, so that
   * it may be called under a queue's mutex; {@link #begin} has to follow.
   */
  Late plan(String lock, List<Runnable> calls) {
    return pending.compute(lock, (name, before) -> new Late(name, calls, before));
  }

  /** Has it made: soon where the store blocks, or else here. */
  void begin(Late late) {
    engine.run(late::make);
  }

  /** Asks the store for {@code lock}, once what was given back of it is on its way. */
  <T> CompletionStage<T> before(String lock, Supplier<CompletionStage<T>> question) {
    Late late = pending.isEmpty() ? null : pending.get(lock);
    if (late == null) {
      return question.get();
    }
    LockStore store = engine.store();
    CompletableFuture<T> answer = new CompletableFuture<>();
    store.together(
        () -> {
          late.make();
          Futures.follow(answer, StoreCalls.call(question));
        });
    return answer;
  }
}

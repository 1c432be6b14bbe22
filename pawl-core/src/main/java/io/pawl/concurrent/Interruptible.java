package io.pawl.concurrent;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Work on the thread that makes this, which other threads may interrupt once; the interrupt does
 * not outlast the work. A thread that has been interrupted already is left as it is until it has
 * taken notice of that, so that the flag that is taken back at the end is ours. So is one that is
 * in a wait of ours that keeps interrupts for later. An interrupt of the work around this one is
 * left to that.
 *
 * <p>To interrupt a thread may take long, and runs users' code: it closes the channel that the
 * thread is blocked in, and waits until a file's read, write or fsync has ended; and a thread's
 * class may have an {@code interrupt} of its own. So other threads than the work's have it done by
 * threads that nobody waits for.
 */
public final class Interruptible {

  /** After which a thread that was interrupted already is looked at again: 20 ms. */
  private static final long AGAIN_NANOS = 20_000_000;

  private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

  private final Executor threads;
  private final Thread thread = Thread.currentThread();
  private final KeptInterrupts.OfThread kept = KeptInterrupts.here();

  /** Of waits that this work is inside of, and that outlast it. */
  private final int outerDepth = kept.depth();

  private final ReentrantLock mutex = new ReentrantLock();

  /** Null until it is wanted; complete once it was made. */
  private final AtomicReference<@Nullable CompletableFuture<Void>> wanted = new AtomicReference<>();

  private volatile boolean ended;

  /**
   * Work of the current thread.
   *
   * @param threads which interrupt it: {@link Workers#interrupts}
   */
  public Interruptible(Executor threads) {
    this.threads = threads;
  }

  /**
   * Does nothing once the work has ended. Does not wait: the stage completes when the thread was
   * interrupted, or its interrupt was put off.
   */
  public CompletableFuture<Void> interrupt() {
    if (ended) {
      return DONE;
    }
    CompletableFuture<Void> made = new CompletableFuture<>();
    CompletableFuture<Void> earlier = wanted.compareAndExchange(null, made);
    if (earlier != null) {
      return earlier;
    }
    Futures.follow(made, interruptSoon());
    return made;
  }

  private CompletableFuture<Void> interruptSoon() {
    if (Thread.currentThread() == thread) {
      interruptBetween(); // which is at no channel then
      return DONE;
    }
    CompletableFuture<Void> done = new CompletableFuture<>();
    threads.execute(
        () -> {
          try {
            interruptBetween();
          } finally {
            done.complete(null);
          }
        });
    return done;
  }

  private void interruptBetween() {
    kept.between(outerDepth, this::interruptNow, this::interruptSoon);
  }

  private void interruptNow() {
    boolean again = false;
    mutex.lock();
    try {
      if (!ended) {
        again = thread.isInterrupted();
        if (!again) {
          kept.interrupts(this);
          thread.interrupt();
        }
      }
    } finally {
      mutex.unlock();
    }
    if (again) {
      SystemTime.ofAllClients().after(AGAIN_NANOS, this::interruptSoon);
    }
  }

  /**
   * Whether an {@link InterruptedException} that leaves the work now is of its own interrupt, as
   * far as Pawl knows; to be asked on its thread.
   */
  public boolean isHeard() {
    return kept.heardLast(this);
  }

  /**
   * The work has ended; clears the flag that this has set. Answers whether the work was to be
   * interrupted by this, though the thread may have been interrupted already.
   */
  public boolean end() {
    kept.end(this, this::noteEnd);
    return wanted.get() != null;
  }

  private void noteEnd() {
    mutex.lock();
    try {
      ended = true;
    } finally {
      mutex.unlock();
    }
  }
}

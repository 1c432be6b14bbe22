package io.pawl.sql.transaction;

import io.pawl.concurrent.KeptInterrupts;
import io.pawl.sql.connection.OwnThread;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Who works off a queue: one thread at a time. A caller that finds nobody at work does one turn
 * itself, so that a lone one pays no hand-over between threads; what has arrived meanwhile is done
 * by a thread of its own, until nothing is left. Where callers' threads are no place to work, all
 * is done there.
 */
public final class DrainLoop implements AutoCloseable {

  private static final long CLOSE_PATIENCE_NANOS = 5_000_000_000L;
  private static final long CLOSE_PAUSE_NANOS = 100_000;

  private final BooleanSupplier hasWork;
  private final Runnable turn;
  private final Runnable pause;
  private final boolean callersWork;
  private final AtomicBoolean atWork = new AtomicBoolean();
  private final ThreadPoolExecutor ownThread;

  /**
   * @param turn does some of the work; never called by two threads at once
   * @param pause called by the thread of its own before each of its turns
   * @param callersWork whether turns are taken on callers' threads
   */
  public DrainLoop(
      BooleanSupplier hasWork,
      Runnable turn,
      Runnable pause,
      boolean callersWork,
      String threadName) {
    this(hasWork, turn, pause, callersWork, OwnThread.named(threadName));
  }

  DrainLoop(
      BooleanSupplier hasWork,
      Runnable turn,
      Runnable pause,
      boolean callersWork,
      ThreadPoolExecutor ownThread) {
    this.callersWork = callersWork;
    this.hasWork = hasWork;
    this.turn = turn;
    this.pause = pause;
    this.ownThread = ownThread;
  }

  /** There is work: done on this thread if nobody is at it, and it may be. */
  public void take() {
    if (!callersWork) {
      takeElsewhere();
    } else if (atWork.compareAndSet(false, true)) {
      takeFirst();
    }
  }

  /** As {@link #take}, of all the work that {@code calls} makes, in one turn. */
  public void together(Runnable calls) {
    if (!atWork.compareAndSet(false, true)) {
      calls.run();
      return;
    }
    try {
      calls.run();
    } finally {
      takeFirst();
    }
  }

  /** This thread is at work: takes one turn, and has the rest done. */
  private void takeFirst() {
    try {
      if (callersWork) {
        uninterrupted(turn);
      }
    } finally {
      atWork.set(false);
    }
    takeElsewhere();
  }

  /** There is work, for which this thread has no time. */
  public void takeElsewhere() {
    if (!hasWork.getAsBoolean() || !ownThread.getQueue().isEmpty()) {
      return;
    }
    Runnable rest = this::takeUntilDone;
    try {
      ownThread.execute(rest);
    } catch (OutOfMemoryError noThread) {
      ownThread.remove(rest);
      if (!callersWork) {
        throw noThread;
      }
      uninterrupted(rest);
    }
  }

  /**
   * Pools and drivers refuse a thread that is interrupted, and what is lent to us must be given
   * back.
   */
  private static void uninterrupted(Runnable work) {
    try (KeptInterrupts kept = new KeptInterrupts()) {
      kept.clear();
      work.run();
    }
  }

  private void takeUntilDone() {
    while (hasWork.getAsBoolean()) {
      pause.run();
      if (!atWork.compareAndSet(false, true)) {
        return; // whoever is at work calls again
      }
      takeOne();
    }
  }

  private void takeOne() {
    try {
      turn.run();
    } finally {
      atWork.set(false);
    }
  }

  /**
   * Lets the turn under way finish, for at most 5 s, runs {@code last}, then what is left. A turn
   * that goes on for longer keeps all that it uses, and whoever takes it sees to what is left.
   *
   * @param last never runs beside a turn
   * @param cut ends a turn that goes on for longer, and touches nothing else of it
   */
  public void close(Runnable last, Runnable cut) {
    uninterrupted(() -> finish(last, cut));
    close();
  }

  private void finish(Runnable last, Runnable cut) {
    long giveUpAt = System.nanoTime() + CLOSE_PATIENCE_NANOS;
    while (!atWork.compareAndSet(false, true)) {
      if (System.nanoTime() - giveUpAt >= 0) {
        cut.run();
        return;
      }
      LockSupport.parkNanos(CLOSE_PAUSE_NANOS);
    }
    try {
      last.run();
    } finally {
      atWork.set(false);
    }
    takeUntilDone();
  }

  @Override
  public void close() {
    ownThread.shutdown();
  }
}

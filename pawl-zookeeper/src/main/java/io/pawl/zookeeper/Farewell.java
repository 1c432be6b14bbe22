package io.pawl.zookeeper;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.KeptInterrupts;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends sessions side by side, within one deadline for all of them. */
final class Farewell {

  private static final Logger log = LoggerFactory.getLogger(Farewell.class);

  /** A session that the service has not ended by then is left to run out. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(3);

  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final ThreadFactory threads;

  /** Those of {@link #isBegun} that have not ended yet, and maybe some that have. */
  private final Set<Thread> begun = ConcurrentHashMap.newKeySet();

  Farewell() {
    this(task -> DaemonThreads.named("pawl-zookeeper-close", task));
  }

  Farewell(ThreadFactory threads) {
    this.threads = threads;
  }

  /**
   * Blocks for at most 5 s, and keeps interrupts. Sessions for which no thread can be started run
   * out: to end them could block for long, and to leave them seldom does.
   *
   * @param ended sessions that the service is asked to end
   * @param abandoned sessions that run out, with whatever stands under them
   */
  void to(Collection<Session> ended, Collection<Session> abandoned) {
    long start = System.nanoTime();
    try (KeptInterrupts kept = new KeptInterrupts()) {
      List<Parting> asked = each(ended, Session::closeNow);
      List<Parting> cut = each(abandoned, Session::abandon);
      await(asked, start + PATIENCE_NANOS, kept);
      List<Session> silent = asked.stream().filter(Parting::isAlive).map(Parting::session).toList();
      silent.forEach(each -> log.info("{}: no answer to its end; it is left to run out", each));
      List<Parting> late = each(silent, Session::abandon);
      for (List<Parting> each : List.of(asked, cut, late)) {
        await(each, start + LONGEST_NANOS, kept);
      }
    }
  }

  /** As {@link #to}, and what was begun on other threads has ended too, if it does within 5 s. */
  void last(Collection<Session> ended, Collection<Session> abandoned) {
    long deadline = System.nanoTime() + LONGEST_NANOS;
    to(ended, abandoned);
    try (KeptInterrupts kept = new KeptInterrupts()) {
      begun.forEach(each -> await(each, deadline, kept));
    }
  }

  /** As {@link #to}, on a thread of its own; false if none can be started: nothing is done then. */
  boolean isBegun(Collection<Session> ended, Collection<Session> abandoned) {
    begun.removeIf(each -> !each.isAlive());
    Thread thread = started(() -> to(ended, abandoned));
    return thread != null && begun.add(thread);
  }

  private record Parting(Session session, Thread thread) {
    boolean isAlive() {
      return thread.isAlive();
    }
  }

  private List<Parting> each(Collection<Session> sessions, Consumer<Session> by) {
    List<Parting> partings = new ArrayList<>();
    List<Session> threadless = new ArrayList<>();
    for (Session session : sessions) {
      Thread thread = started(() -> by.accept(session));
      if (thread == null) {
        threadless.add(session);
      } else {
        partings.add(new Parting(session, thread));
      }
    }
    threadless.forEach(Session::abandon);
    return partings;
  }

  private @Nullable Thread started(Runnable task) {
    try {
      Thread thread = threads.newThread(task);
      thread.start();
      return thread;
    } catch (Error e) { // of memory, or of threads
      log.warn("no thread can be started to end a session: {}", e.toString());
      return null;
    }
  }

  private static void await(List<Parting> partings, long deadline, KeptInterrupts kept) {
    partings.forEach(each -> await(each.thread(), deadline, kept));
  }

  private static void await(Thread thread, long deadline, KeptInterrupts kept) {
    boolean over = false;
    while (!over) {
      try {
        TimeUnit.NANOSECONDS.timedJoin(thread, deadline - System.nanoTime());
        over = true;
      } catch (InterruptedException e) {
        kept.caught();
      }
    }
  }
}

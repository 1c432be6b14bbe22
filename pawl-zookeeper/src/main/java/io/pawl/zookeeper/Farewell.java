package io.pawl.zookeeper;

import io.pawl.concurrent.DaemonThreads;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends sessions side by side, within one deadline for all of them. */
final class Farewell {

  private static final Logger log = LoggerFactory.getLogger(Farewell.class);

  /** A session that the service has not ended by then is left to run out. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(3);

  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(5);

  private Farewell() {}

  /**
   * Blocks for at most 5 s. An interrupt ends the wait: then the connections end by themselves
   * soon.
   *
   * @param ended sessions that the service is asked to end
   * @param abandoned sessions that run out, with whatever stands under them
   */
  static void to(Collection<Session> ended, Collection<Session> abandoned) {
    long begun = System.nanoTime();
    List<Parting> asked = each(ended, Session::closeNow);
    List<Parting> cut = each(abandoned, Session::abandon);
    boolean waited = await(asked, begun + PATIENCE_NANOS);
    List<Session> silent = asked.stream().filter(Parting::isAlive).map(Parting::session).toList();
    silent.forEach(each -> log.info("{}: no answer to its end; it is left to run out", each));
    List<Parting> late = each(silent, Session::abandon);
    if (waited) {
      long deadline = begun + LONGEST_NANOS;
      boolean all = await(asked, deadline) && await(cut, deadline) && await(late, deadline);
      if (!all) {
        log.debug("interrupted while connections end");
      }
    }
  }

  private record Parting(Session session, Thread thread) {
    boolean isAlive() {
      return thread.isAlive();
    }
  }

  private static List<Parting> each(Collection<Session> sessions, Consumer<Session> by) {
    List<Parting> partings =
        sessions.stream()
            .map(
                session ->
                    new Parting(
                        session,
                        DaemonThreads.named("pawl-zookeeper-close", () -> by.accept(session))))
            .toList();
    partings.forEach(parting -> parting.thread().start());
    return partings;
  }

  /** False if the caller was interrupted. */
  private static boolean await(List<Parting> partings, long deadline) {
    try {
      for (Parting each : partings) {
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (left > 0) {
          each.thread().join(left);
        }
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}

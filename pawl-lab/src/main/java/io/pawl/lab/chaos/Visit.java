package io.pawl.lab.chaos;

import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreException;
import io.pawl.lab.chaos.Notebook.End;
import io.pawl.lab.chaos.Notebook.Line;
import io.pawl.lab.chaos.Notebook.Page;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * One lease's time inside: all that its holder sees is written down, and the witnesses are told. It
 * writes to the unfenced register without looking at its lease, as careless code does.
 */
final class Visit {

  private static final long LOOK_NANOS = 10_000_000;

  private final Referee referee;
  private final Page page;
  private final BooleanSupplier validity;

  /**
   * @param page granted already
   * @param validity asks the lease
   */
  Visit(Referee referee, Page page, BooleanSupplier validity) {
    this.referee = referee;
    this.page = page;
    this.validity = validity;
  }

  /** Stays inside for a while, and looks at the lease again and again. */
  void stay(long millis) {
    Subject subject = page.subject();
    look();
    referee.enter(subject, page);
    boolean interrupted = false;
    try {
      long until = System.nanoTime() + millis * 1_000_000;
      for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
        TimeUnit.NANOSECONDS.sleep(Math.min(left, LOOK_NANOS));
        look();
      }
    } catch (InterruptedException e) {
      interrupted = true; // a job whose lease is lost
    }
    look();
    if (page.share().isExclusive()) {
      write(subject);
    }
    referee.leave(subject, page);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void write(Subject subject) {
    long token = page.get(Line.TOKEN);
    boolean isStale = referee.writeUnfenced(subject, token);
    page.set(Line.UNFENCED, isStale ? 2 : 1);
    Referee.Fenced fenced = referee.write(subject, token);
    page.set(Line.FENCED_NUMBER, fenced.number());
    page.set(Line.FENCED_VALID, look() ? 1 : 0);
    page.set(Line.FENCED, fenced.isAccepted() ? 2 : 1);
  }

  /** It was valid at some moment between the two readings of the clock. */
  private boolean look() {
    long before = System.nanoTime();
    boolean isValid = validity.getAsBoolean();
    long after = System.nanoTime();
    if (isValid) {
      if (page.get(Line.VALID_FROM) == 0) {
        page.set(Line.VALID_FROM, after);
      }
      page.set(Line.VALID_UNTIL, before);
    } else if (page.get(Line.FOUND_AT) == 0) {
      page.set(Line.FOUND_AT, after);
    }
    return isValid;
  }

  /** Ends the page by what the release does. */
  static void close(Page page, Runnable release) {
    page.set(Line.CLOSE_BEGAN, System.nanoTime());
    page.ended(endOf(release));
  }

  private static End endOf(Runnable release) {
    try {
      release.run();
      return End.RELEASED;
    } catch (LeaseLostException e) {
      return End.LOST;
    } catch (StoreException e) {
      return End.UNCONFIRMED;
    }
  }
}

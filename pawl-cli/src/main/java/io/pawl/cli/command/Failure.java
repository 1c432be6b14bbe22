package io.pawl.cli.command;

import io.pawl.counter.OperationConflictException;
import io.pawl.counter.OperationTooOldException;
import io.pawl.error.LeaseLostException;
import io.pawl.error.LockKindException;
import io.pawl.error.NameInUseException;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;

/**
 * Why a command ends without success: one line for people, with statements below it that they are
 * to run, and an exit code for scripts.
 */
public final class Failure extends RuntimeException {

  private static final long serialVersionUID = 1;

  private final int exit;

  public Failure(int exit, String message) {
    super(message, null, false, false);
    this.exit = exit;
  }

  public static Failure usage(String message) {
    return new Failure(Exit.USAGE, message);
  }

  /** What a failure of the library means to a script. */
  public static Failure of(Throwable cause) {
    if (cause instanceof Failure known) {
      return known;
    }
    if (cause instanceof StoreException store) {
      int exit = exitOf(store);
      return new Failure(exit, exit == Exit.UNAVAILABLE ? inOneLine(text(cause)) : text(cause));
    }
    if (cause instanceof LeaseLostException) {
      return new Failure(Exit.LOST, text(cause));
    }
    if (cause instanceof LockKindException kind) {
      return new Failure(Exit.CONFIGURATION, text(kind));
    }
    if (cause instanceof OperationTooOldException old) {
      return new Failure(Exit.DATA, text(old));
    }
    if (cause instanceof OperationConflictException) {
      return new Failure(Exit.DATA, text(cause));
    }
    return new Failure(
        Exit.INTERNAL, "internal error, please report it: " + cause + at(cause.getStackTrace()));
  }

  private static int exitOf(StoreException failure) {
    if (failure instanceof StoreDeniedException) {
      return Exit.DENIED;
    }
    boolean configuration =
        failure instanceof StoreConfigurationException || failure instanceof NameInUseException;
    return configuration ? Exit.CONFIGURATION : Exit.UNAVAILABLE;
  }

  /** MySQL's driver takes three to say that a server is away. */
  private static String inOneLine(String text) {
    return text.strip().replaceAll("\\s*\\R\\s*", " ");
  }

  private static String text(Throwable cause) {
    String message = cause.getMessage();
    return message == null ? cause.toString() : message;
  }

  private static String text(OperationTooOldException e) {
    String younger = "; if it was first used after that, say so with --within";
    return e.getMessage() + (e.id().issued() == null ? younger : "");
  }

  private static String text(LockKindException e) {
    String permits =
        "semaphore of " + e.capacity() + " permits, ask with --permits K/" + e.capacity();
    String kind = e.capacity() > 0 ? permits : "lock, ask without --permits";
    return "'" + e.lock() + "' is a " + kind + " or use another name; nothing was taken";
  }

  private static String at(StackTraceElement[] trace) {
    return trace.length == 0 ? "" : " at " + trace[0];
  }

  public int exit() {
    return exit;
  }

  public String message() {
    return String.valueOf(getMessage());
  }
}

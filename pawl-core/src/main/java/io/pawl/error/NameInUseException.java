package io.pawl.error;

/** A counter was requested by the name of a lock, or a lock by the name of a counter. */
public final class NameInUseException extends StoreException {

  private static final long serialVersionUID = 1;

  private NameInUseException(String message) {
    super(message);
  }

  /** Returns the exception for a counter whose name a lock on the store has. */
  public static NameInUseException byLock(String name) {
    return new NameInUseException(
        "counter '" + name + "': a lock has this name; give the counter another");
  }

  /** Returns the exception for a lock whose name a counter on the store has. */
  public static NameInUseException byCounter(String name) {
    return new NameInUseException(
        "lock '" + name + "': a counter has this name; give the lock another");
  }
}

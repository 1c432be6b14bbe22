package io.pawl.error;

/** A counter was asked for by the name of a lock, or a lock by the name of a counter. */
public final class NameInUseException extends StoreException {

  private static final long serialVersionUID = 1;

  private NameInUseException(String message) {
    super(message);
  }

  /** A lock of this name exists on the store. */
  public static NameInUseException byLock(String name) {
    return new NameInUseException(
        "counter '" + name + "': a lock has this name; give the counter another");
  }

  /** A counter of this name exists on the store. */
  public static NameInUseException byCounter(String name) {
    return new NameInUseException(
        "lock '" + name + "': a counter has this name; give the lock another");
  }
}

package io.pawl.counter;

import io.pawl.error.PawlException;
import java.time.Instant;

/**
 * The operation was first made longer ago than the store remembers, so the store can no longer tell
 * whether it was applied then. Nothing was changed.
 */
public final class OperationTooOldException extends PawlException {

  private static final long serialVersionUID = 1;

  private final String counter;
  private final OperationId id;

  public OperationTooOldException(String counter, OperationId id, Instant keptFrom) {
    super(
        "counter '"
            + counter
            + "': operation '"
            + id
            + "' "
            + (id.issued() == null ? "says not when it was issued" : "was issued " + id.issued())
            + ", and operations from before "
            + keptFrom
            + " are not remembered; look into your own records",
        null);
    this.counter = counter;
    this.id = id;
  }

  /** Returns the counter's name. */
  public String counter() {
    return counter;
  }

  /** Returns the id that is too old. */
  public OperationId id() {
    return id;
  }
}

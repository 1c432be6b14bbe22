package io.pawl.counter;

import io.pawl.error.PawlException;
import io.pawl.error.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * A change of a counter was sent, and the store did not answer in time: it may have been applied or
 * not. Once the store answers again, {@code Counter.outcome} with {@link #id} says which; so does
 * making the same change again under that id.
 */
public final class OutcomeUnknownException extends PawlException {

  private static final long serialVersionUID = 1;

  private final String counter;
  private final OperationId id;

  public OutcomeUnknownException(
      String counter, OperationId id, String store, @Nullable StoreException cause) {
    super(
        "counter '"
            + counter
            + "': whether operation '"
            + id
            + "' was applied is not known, since "
            + store
            + " gave no answer; ask again with outcome(\""
            + id
            + "\")",
        cause);
    this.counter = counter;
    this.id = id;
  }

  /** Returns the counter's name; for a basket, all names separated by commas. */
  public String counter() {
    return counter;
  }

  /** Returns the id of the operation to ask for. */
  public OperationId id() {
    return id;
  }
}

package io.pawl.counter;

import io.pawl.error.PawlException;

/** The operation id was used before for another operation. Nothing was changed. */
public final class OperationConflictException extends PawlException {

  private static final long serialVersionUID = 1;

  private final String counter;
  private final OperationId id;

  public OperationConflictException(String counter, OperationId id, String asked, String recorded) {
    super(
        "counter '"
            + counter
            + "': operation id '"
            + id
            + "' was asked to "
            + asked
            + " and stands for: "
            + recorded
            + "; use another id",
        null);
    this.counter = counter;
    this.id = id;
  }

  /** Returns the counter's name. */
  public String counter() {
    return counter;
  }

  /** Returns the id that was used twice. */
  public OperationId id() {
    return id;
  }
}

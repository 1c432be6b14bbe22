package io.pawl.counter;

import io.pawl.error.PawlException;

/** An operation id was used before for something else. Nothing was changed. */
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

  /** The counter's name. */
  public String counter() {
    return counter;
  }

  /** The id that means two things. */
  public OperationId id() {
    return id;
  }
}

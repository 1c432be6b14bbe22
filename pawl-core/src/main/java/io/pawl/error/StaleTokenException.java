package io.pawl.error;

/**
 * A write was refused because its fencing token is smaller than one that the resource has seen: a
 * later holder has written already. The exception is unchecked, so that transaction frameworks roll
 * back.
 */
public final class StaleTokenException extends PawlException {

  private static final long serialVersionUID = 1;

  private final long token;

  /**
   * @param token the token that was refused
   */
  public StaleTokenException(String message, long token) {
    super(message, null);
    this.token = token;
  }

  /** Returns the token that was refused. */
  public long token() {
    return token;
  }
}

package io.pawl.error;

/**
 * A write was refused because a later holder has written already: its fencing token is smaller than
 * one that the resource has seen. It is unchecked, so that whatever rolls transactions back does.
 */
public final class StaleTokenException extends PawlException {

  private static final long serialVersionUID = 1;

  private final long token;

  /**
   * @param token the one that was refused
   */
  public StaleTokenException(String message, long token) {
    super(message, null);
    this.token = token;
  }

  /** The token that was refused. */
  public long token() {
    return token;
  }
}

package io.pawl.error;

/**
 * A lease could no longer be trusted: another client may hold the lock. Writes made under it are
 * safe only where the token was checked.
 */
public final class LeaseLostException extends PawlException {

  private static final long serialVersionUID = 1;

  private final String lock;
  private final long token;

  public LeaseLostException(String lock, long token, String why) {
    super("lease of lock '" + lock + "' with token " + token + " was lost: " + why, null);
    this.lock = lock;
    this.token = token;
  }

  /** Returns the lock's name. */
  public String lock() {
    return lock;
  }

  /** Returns the fencing token of the lease. */
  public long token() {
    return token;
  }
}

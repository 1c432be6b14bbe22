package io.pawl.error;

/**
 * A lease could no longer be trusted: another may hold the lock. What was written under it is safe
 * only where its token was checked.
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

  /** The lock's name. */
  public String lock() {
    return lock;
  }

  /** The fencing token of the lease. */
  public long token() {
    return token;
  }
}

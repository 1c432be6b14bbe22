package io.pawl.etcd.gateway;

import io.pawl.error.StoreException;

/** etcd refused a request. */
public final class RefusedException extends StoreException {

  private static final long serialVersionUID = 1;

  /** Why, as far as it matters to what the store does next. */
  public enum Reason {
    LEASE_GONE,
    LEASE_EXISTS,
    COMPACTED,
    NO_SPACE,
    TOKEN_INVALID,
    AUTHENTICATION_OFF,
    OTHER
  }

  private final Reason reason;

  RefusedException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /**
   * Returns whether the request certainly had no effect. One that passes the space quota is carried
   * out and answered as if it were refused.
   */
  public boolean changedNothing() {
    return reason != Reason.NO_SPACE;
  }

  public Reason reason() {
    return reason;
  }

  /** Returns whether {@code error} is a refusal for {@code reason}. */
  public static boolean is(Throwable error, Reason reason) {
    return error instanceof RefusedException refused && refused.reason == reason;
  }
}

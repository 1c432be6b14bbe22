package io.pawl.spring;

/** What becomes of a call that does not get its lock in time. */
public enum OnBusy {
  /** The call ends with a {@link LockNotAcquiredException}. */
  THROW,
  /** The method does not run: the call returns null, an empty {@code Optional}, or nothing. */
  SKIP
}

package io.pawl;

/** What happens to a running body when its lease is lost. */
public enum OnLoss {
  /** The body goes on; it can ask its lease. */
  GO_ON,
  /** The body's thread is interrupted, once. */
  INTERRUPT
}

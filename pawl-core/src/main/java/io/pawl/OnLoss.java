package io.pawl;

/** What happens to a body that runs when its lease is lost. */
public enum OnLoss {
  /** It is left alone; it may ask its lease. */
  GO_ON,
  /** Its thread is interrupted, once. */
  INTERRUPT
}

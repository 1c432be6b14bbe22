package io.pawl.servers;

/**
 * What becomes of a connection whose reply a {@link FaultProxy} dropped. Later replies never pass:
 * they would be taken for answers to earlier requests, which no network does.
 */
public enum AfterDrop {
  /** It is reset at once, and the client learns of the loss. */
  RESET,
  /** It stays open and silent, and only a timeout tells, until {@link FaultProxy#heal()}. */
  SILENCE
}

package io.pawl.micrometer;

import java.util.Arrays;
import java.util.Locale;

/** Why leases are lost, as a tag. */
enum LossReason {
  /** The deadline passed before a renewal was answered. */
  EXPIRED("its deadline passed"),
  /** The store ended the hold: it had run out there, or was evicted. */
  TAKEN("the store "),
  /** Its object was dropped without being closed. */
  ABANDONED("nobody can reach the lease"),
  /** It was not closed within the grace of its client's close. */
  CLOSED("the Pawl client was closed"),
  OTHER("");

  private final String beginning;
  private final String tag = name().toLowerCase(Locale.ROOT);

  /**
   * @param beginning of what the engine says of it
   */
  LossReason(String beginning) {
    this.beginning = beginning;
  }

  static LossReason of(String why) {
    return Arrays.stream(values())
        .filter(reason -> why.startsWith(reason.beginning))
        .findFirst()
        .orElse(OTHER);
  }

  String tag() {
    return tag;
  }
}

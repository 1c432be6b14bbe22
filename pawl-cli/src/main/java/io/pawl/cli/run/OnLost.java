package io.pawl.cli.run;

/** What happens to the command when its lease is lost. */
enum OnLost {
  /** TERM, and KILL after {@code --kill-after}. */
  TERM,
  /** KILL at once. */
  KILL,
  /** A line on standard error. */
  WARN
}

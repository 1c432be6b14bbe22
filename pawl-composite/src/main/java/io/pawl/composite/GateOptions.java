package io.pawl.composite;

import java.time.Duration;

/**
 * How a {@link GateStore} treats its gate. Immutable; each method that sets something returns a
 * changed copy.
 *
 * @param gatePatience how long a call waits for the gate before it goes on without it, 1 ms to 10 s
 * @param gatePause how long a failed gate is left alone before it is tried again, in the
 *     background, 10 ms to 1 minute
 * @param soldOutKept how long a client refuses by its last answer, 1 ms to 1 s
 * @param settle how often a client that uses a counter compares gate and truth, 10 ms to 1 minute
 * @param refusesCallersIds whether takes under callers' ids are refused early too. Such a refusal
 *     is not entered into the ledger: a repetition may be sold later. And a take that another
 *     client, or one that crashed, has sold under the id may be refused; so ask {@link
 *     io.pawl.Counter#outcome} before repeating what another client may have sent.
 */
public record GateOptions(
    Duration gatePatience,
    Duration gatePause,
    Duration soldOutKept,
    Duration settle,
    boolean refusesCallersIds) {

  private static final GateOptions DEFAULTS =
      new GateOptions(
          Duration.ofMillis(500),
          Duration.ofSeconds(1),
          Duration.ofMillis(250),
          Duration.ofSeconds(1),
          false);

  public GateOptions {
    check("gatePatience", gatePatience, 1, 10);
    check("gatePause", gatePause, 10, 60);
    check("soldOutKept", soldOutKept, 1, 1);
    check("settle", settle, 10, 60);
  }

  private static void check(String what, Duration value, int leastMillis, int mostSeconds) {
    if (value.compareTo(Duration.ofMillis(leastMillis)) < 0
        || value.compareTo(Duration.ofSeconds(mostSeconds)) > 0) {
      throw new IllegalArgumentException(
          what + ": " + value + " is not between " + leastMillis + " ms and " + mostSeconds + " s");
    }
  }

  /**
   * Returns the defaults: a patience of 500 ms, a pause of 1 s, "sold out" kept for 250 ms, a
   * comparison every second; takes under callers' ids go to the truth.
   */
  public static GateOptions defaults() {
    return DEFAULTS;
  }

  public GateOptions gatePatience(Duration longest) {
    return new GateOptions(longest, gatePause, soldOutKept, settle, refusesCallersIds);
  }

  public GateOptions gatePause(Duration pause) {
    return new GateOptions(gatePatience, pause, soldOutKept, settle, refusesCallersIds);
  }

  public GateOptions soldOutKept(Duration kept) {
    return new GateOptions(gatePatience, gatePause, kept, settle, refusesCallersIds);
  }

  public GateOptions settle(Duration period) {
    return new GateOptions(gatePatience, gatePause, soldOutKept, period, refusesCallersIds);
  }

  public GateOptions refusesCallersIds(boolean refuses) {
    return new GateOptions(gatePatience, gatePause, soldOutKept, settle, refuses);
  }
}

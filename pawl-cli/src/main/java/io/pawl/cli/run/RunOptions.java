package io.pawl.cli.run;

import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@code pawl run} was asked for, checked.
 *
 * @param lock the lock's name
 * @param mode whether it is held alone, with other readers, or in part
 * @param command the program and its arguments
 * @param checksCommand whether the program is looked up before the lock is taken
 * @param patience how long to wait for the lock, null for as long as it takes
 * @param skipIfBusy whether a busy lock is a success
 * @param holder free text shown to others
 */
record RunOptions(
    String lock,
    Mode mode,
    List<String> command,
    boolean checksCommand,
    @Nullable Duration patience,
    boolean skipIfBusy,
    Duration lease,
    Duration minHold,
    Duration maxRun,
    Duration killAfter,
    OnLost onLost,
    String holder,
    boolean json) {}

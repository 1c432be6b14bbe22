package io.pawl.spring;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a job of {@link ScheduledOnce} goes on this machine. Immutable.
 *
 * @param job its bean's class and method, as {@code Reports.nightly}: beans of one class count as
 *     one, beans of two that have the method from a third do not. A bean that was made of an
 *     interface, as a repository of Spring Data is, counts by that
 * @param quietFor the time since a run has ended well here, or a start was skipped since the job
 *     ran elsewhere, while no run went on here; before the first of these since the application
 *     knows the job
 * @param runningFor how long the oldest run has lasted that goes on here; null where none does
 * @param overdue whether it has been quiet for longer than {@link ScheduledOnce#overdueAfter}, or a
 *     run goes on past its {@link ScheduledOnce#maxRun}
 */
public record JobState(
    String job, Duration quietFor, @Nullable Duration runningFor, boolean overdue) {}

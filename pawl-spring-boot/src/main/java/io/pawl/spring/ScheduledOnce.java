package io.pawl.spring;

import io.pawl.ScheduledJob;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs a scheduled method on one machine of many at a time. A start that finds the lock busy is
 * skipped. The lease is renewed while the method runs, and its loss interrupts the method.
 *
 * <pre>{@code
 * @Scheduled(cron = "0 0 3 * * *")
 * @ScheduledOnce(name = "nightly", minHold = "5m")
 * public void nightly() { … }
 * }</pre>
 *
 * @see ScheduledJob
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Reflective
public @interface ScheduledOnce {

  /** As {@link #name}. */
  @AliasFor("name")
  String value() default "";

  /** The lock's name, with placeholders and SpEL as for {@link Locked#name}. */
  @AliasFor("value")
  String name() default "";

  /**
   * How long the lock stays busy at least from the start of a run, even if the process ends: longer
   * than the machines' clocks differ, and shorter than the schedule's period. As {@code 5m}.
   */
  String minHold() default "";

  /** After how long a run is interrupted; never unless set. As {@code 2h}. */
  String maxRun() default "";

  /**
   * After how long health calls the job overdue: longer than the schedule's period and a run. The
   * time counts from the last run that ended well on this machine, or the last start that was
   * skipped since the job ran elsewhere while no run went on here, or from the start of the
   * application. Never unless set. As {@code 25h}.
   */
  String overdueAfter() default "";

  /** As {@link Locked#lease}. */
  String lease() default "";
}

package io.pawl.spring;

import io.pawl.options.LockOptions;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * What the annotations of one method say.
 *
 * @param waitAtMost null for the default
 * @param lease null for the default
 * @param job null for a method that is not to run once
 */
record LockedMethod(
    Method method,
    NameTemplate name,
    @Nullable Duration waitAtMost,
    @Nullable Duration lease,
    OnBusy onBusy,
    boolean shared,
    boolean fenced,
    Completion completion,
    @Nullable Job job) {

  /**
   * @param maxRun null for no limit
   */
  record Job(Duration minHold, @Nullable Duration maxRun) {}

  /**
   * Returns null for a method without annotations.
   *
   * @throws IllegalStateException for annotations that could not do what they say
   */
  static @Nullable LockedMethod of(Method method, ConfigurableBeanFactory beans) {
    Locked locked = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
    ScheduledOnce once = AnnotatedElementUtils.findMergedAnnotation(method, ScheduledOnce.class);
    if (locked == null && once == null) {
      return null;
    }
    int modifiers = method.getModifiers();
    check(!Modifier.isPrivate(modifiers), method, "is private: no proxy sees its calls");
    check(!Modifier.isStatic(modifiers), method, "is static: no proxy sees its calls");
    check(!Modifier.isFinal(modifiers), method, "is final: no proxy sees its calls");
    check(locked == null || once == null, method, "has both @Locked and @ScheduledOnce; keep one");
    if (locked != null) {
      return locked(locked, method, beans);
    }
    return once == null ? null : once(once, method, beans);
  }

  private static LockedMethod locked(Locked locked, Method method, ConfigurableBeanFactory beans) {
    Completion completion = Completion.of(method);
    Class<?> type = method.getReturnType();
    check(
        locked.onBusy() != OnBusy.SKIP || type == void.class || !type.isPrimitive(),
        method,
        "returns a " + type + ", which a call that is skipped has not; use OnBusy.THROW");
    check(
        !locked.fenced() || completion == Completion.RETURNED,
        method,
        "cannot be fenced: its transaction does not end on the thread that calls it");
    check(!locked.fenced() || !locked.shared(), method, "is fenced and shared; keep one");
    return new LockedMethod(
        method,
        name(locked.name(), method, beans),
        duration(locked.waitAtMost(), beans),
        lease(locked.lease(), beans),
        locked.onBusy(),
        locked.shared(),
        locked.fenced(),
        completion,
        null);
  }

  private static LockedMethod once(
      ScheduledOnce once, Method method, ConfigurableBeanFactory beans) {
    check(
        method.getReturnType() == void.class,
        method,
        "is to run once and returns something; let it return nothing");
    Duration minHold = duration(once.minHold(), beans);
    return new LockedMethod(
        method,
        name(once.name(), method, beans),
        Duration.ZERO,
        lease(once.lease(), beans),
        OnBusy.SKIP,
        false,
        false,
        Completion.of(method),
        new Job(minHold == null ? Duration.ZERO : minHold, duration(once.maxRun(), beans)));
  }

  private static void check(boolean holds, Method method, String otherwise) {
    if (!holds) {
      throw new IllegalStateException(method + " " + otherwise);
    }
  }

  private static NameTemplate name(String text, Method method, ConfigurableBeanFactory beans) {
    return new NameTemplate(resolved(text, beans), method, beans);
  }

  private static String resolved(String text, ConfigurableBeanFactory beans) {
    String resolved = beans.resolveEmbeddedValue(text);
    return resolved == null ? "" : resolved;
  }

  private static @Nullable Duration duration(String text, ConfigurableBeanFactory beans) {
    String resolved = resolved(text, beans);
    return resolved.isBlank() ? null : DurationFormatterUtils.detectAndParse(resolved);
  }

  private static @Nullable Duration lease(String text, ConfigurableBeanFactory beans) {
    Duration lease = duration(text, beans);
    return lease == null ? null : LockOptions.defaults().lease(lease).lease(); // which checks it
  }

  Duration waitOr(Duration usual) {
    if (waitAtMost != null) {
      return waitAtMost;
    }
    return onBusy == OnBusy.SKIP ? Duration.ZERO : usual;
  }

  LockOptions options(Duration usualLease) {
    return LockOptions.defaults().lease(lease == null ? usualLease : lease);
  }
}

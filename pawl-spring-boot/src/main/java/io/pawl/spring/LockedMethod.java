package io.pawl.spring;

import io.pawl.ScheduledJob;
import io.pawl.options.LockOptions;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * What the annotations of one method say.
 *
 * @param names of several locks, or of one
 * @param several whether they are taken as a group, though there may be one
 * @param waitAtMost null for the default
 * @param lease null for the default
 * @param job null for a method that is not to run once
 */
record LockedMethod(
    Method method,
    List<NameTemplate> names,
    boolean several,
    @Nullable Duration waitAtMost,
    @Nullable Duration lease,
    OnBusy onBusy,
    @Nullable Fallback fallback,
    boolean shared,
    boolean fenced,
    OpenTransaction openTransaction,
    Completion completion,
    @Nullable Job job) {

  /** As {@link ScheduledJob#maxRun} has it. */
  private static final Duration SHORTEST_RUN = Duration.ofMillis(1);

  /**
   * @param maxRun null for no limit
   * @param overdueAfter null for no limit
   */
  record Job(
      Duration minHold,
      @Nullable Duration maxRun,
      @Nullable Duration overdueAfter,
      JobWatch watch) {}

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
    long locks = MergedAnnotations.from(method).stream(Locked.class).count();
    check(locks <= 1, method, "has " + locks + " annotations of a lock; one would be left out");
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
    check(
        locked.openTransaction() != OpenTransaction.HOLD
            || !locked.fenced() && completion == Completion.RETURNED,
        method,
        "is fenced or asynchronous, and cannot hold its lock until an open transaction ends");
    Duration wait = duration(locked.waitAtMost(), beans);
    check(wait == null || !wait.isNegative(), method, "waits for less than no time: " + wait);
    boolean several = locked.names().length > 0;
    String[] one = {locked.name()};
    check(!several || locked.name().isEmpty(), method, "has both a name and names; keep one");
    check(!several || !locked.shared(), method, "shares several locks, which it takes alone");
    check(
        !several || completion != Completion.STAGE,
        method,
        "returns a stage and has several locks; return a Mono, be @Async, or use Pawl.lockAll");
    check(
        locked.fallback().isBlank() || locked.onBusy() == OnBusy.THROW,
        method,
        "has a fallback and is skipped; keep one");
    return new LockedMethod(
        method,
        several ? names(locked.names(), method, beans) : names(one, method, beans),
        several,
        wait,
        lease(locked.lease(), beans),
        locked.onBusy(),
        locked.fallback().isBlank() ? null : Fallback.of(locked.fallback(), method),
        locked.shared(),
        locked.fenced(),
        locked.openTransaction(),
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
    Duration maxRun = duration(once.maxRun(), beans);
    check(
        maxRun == null || maxRun.compareTo(SHORTEST_RUN) >= 0,
        method,
        "is to run for " + maxRun + " at most; give it at least 1 ms");
    Duration overdueAfter = duration(once.overdueAfter(), beans);
    check(
        overdueAfter == null || overdueAfter.compareTo(Duration.ZERO) > 0,
        method,
        "is overdue after " + overdueAfter + ", which is always; give it longer than its period");
    return new LockedMethod(
        method,
        names(new String[] {once.name()}, method, beans),
        false,
        Duration.ZERO,
        lease(once.lease(), beans),
        OnBusy.SKIP,
        null,
        false,
        false,
        OpenTransaction.REFUSE,
        Completion.of(method),
        new Job(
            minHold == null ? Duration.ZERO : checkedMinHold(minHold),
            maxRun,
            overdueAfter,
            new JobWatch(System.nanoTime())));
  }

  private static void check(boolean holds, Method method, String otherwise) {
    if (!holds) {
      throw new IllegalStateException(method + " " + otherwise);
    }
  }

  private static List<NameTemplate> names(
      String[] texts, Method method, ConfigurableBeanFactory beans) {
    return Arrays.stream(texts)
        .map(text -> new NameTemplate(resolved(text, beans), method, beans))
        .toList();
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

  private static Duration checkedMinHold(Duration minHold) {
    return LockOptions.defaults().minHold(minHold).minHold();
  }

  /** The name of the only lock. */
  String name(@Nullable Object target, @Nullable Object[] arguments) {
    return names.get(0).of(target, arguments);
  }

  /** The names of all locks, each once. */
  Collection<String> allNames(@Nullable Object target, @Nullable Object[] arguments) {
    TreeSet<String> all = new TreeSet<>();
    names.forEach(template -> all.addAll(template.allOf(target, arguments)));
    return all;
  }

  Duration waitOr(Duration usual) {
    if (waitAtMost != null) {
      return waitAtMost;
    }
    return onBusy == OnBusy.SKIP ? Duration.ZERO : usual;
  }

  /** Empty where it is no job. */
  Optional<JobState> jobState(String name, long now) {
    return job == null ? Optional.empty() : Optional.of(job.watch().state(name, job, now));
  }

  boolean canHold() {
    return !fenced && completion == Completion.RETURNED;
  }

  LockOptions options(Duration usualLease) {
    return LockOptions.defaults().lease(lease == null ? usualLease : lease);
  }
}

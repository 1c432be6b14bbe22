package io.pawl.spring;

import io.pawl.Pawl;
import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.MethodMatcher;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcher;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Puts {@link Locked} and {@link ScheduledOnce} into effect where Spring makes proxies. Stands
 * outside of transactions: they begin under the lock and end before it is released. Thread-safe.
 */
public final class LockAdvisor implements PointcutAdvisor, Pointcut, Ordered {

  /** Before that of transactions, which is the last. */
  private static final int ORDER = Ordered.LOWEST_PRECEDENCE - 100;

  private final LockedMethods methods;
  private final LockInterceptor interceptor;

  /**
   * @param pawl asked at the first call of a method
   * @param settings as {@code pawl}
   * @param fencing as {@code pawl}; supplies null where nothing can be fenced
   * @param beans which make the proxies
   */
  public LockAdvisor(
      Supplier<Pawl> pawl,
      Supplier<LockSettings> settings,
      Supplier<@Nullable Fencing> fencing,
      ConfigurableBeanFactory beans) {
    this.methods = new LockedMethods(beans);
    this.interceptor = new LockInterceptor(methods, pawl, settings, fencing);
  }

  /** Returns how the jobs of {@link ScheduledOnce} go on this machine. No round trip. */
  public List<JobState> jobs() {
    return methods.jobs();
  }

  @Override
  public Pointcut getPointcut() {
    return this;
  }

  @Override
  public Advice getAdvice() {
    return interceptor;
  }

  @Override
  public int getOrder() {
    return ORDER;
  }

  @Override
  public ClassFilter getClassFilter() {
    return type ->
        AnnotationUtils.isCandidateClass(type, List.of(Locked.class, ScheduledOnce.class));
  }

  @Override
  public MethodMatcher getMethodMatcher() {
    return new StaticMethodMatcher() {
      @Override
      public boolean matches(Method method, Class<?> type) {
        return methods.find(method, type) != null;
      }
    };
  }
}

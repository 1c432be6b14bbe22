package io.pawl.spring;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;

/**
 * Calls that come through a proxy of a proxy, as a bean has that is another bean: {@code @Bean Api
 * api(Service service) { return service; }}. The outer one takes the lock, around its transaction;
 * the inner one would wait for it.
 */
final class ProxiedTwice {

  /** The call that this thread's outer proxy, which has its lock, hands to an inner one. */
  private static final ThreadLocal<@Nullable MethodInvocation> handed = new ThreadLocal<>();

  private ProxiedTwice() {}

  /** What holds the lock goes on. Returns what was handed on before, for {@link #returned}. */
  static @Nullable MethodInvocation called(MethodInvocation call) {
    MethodInvocation before = handed.get();
    set(call.getThis() instanceof Advised ? call : null);
    return before;
  }

  static void returned(@Nullable MethodInvocation before) {
    set(before);
  }

  private static void set(@Nullable MethodInvocation call) {
    if (call != null) {
      handed.set(call);
    } else if (handed.get() != null) {
      handed.remove();
    }
  }

  /** Whether the proxy around this one has taken the lock; it is asked once. */
  static boolean hasLock(MethodInvocation inner) {
    MethodInvocation outer = handed.get();
    boolean same =
        outer != null
            && inner instanceof ProxyMethodInvocation through
            && through.getProxy() == outer.getThis()
            && isSame(inner.getMethod(), outer.getMethod());
    if (same) {
      handed.remove();
    }
    return same;
  }

  /** Whether it is a proxy that takes locks. */
  static boolean locksItself(@Nullable Object target) {
    return target instanceof Advised proxy
        && Stream.of(proxy.getAdvisors())
            .anyMatch(advisor -> advisor.getAdvice() instanceof LockInterceptor);
  }

  /** One may be an interface's. */
  private static boolean isSame(Method one, Method other) {
    return one.getName().equals(other.getName())
        && Arrays.equals(one.getParameterTypes(), other.getParameterTypes());
  }
}

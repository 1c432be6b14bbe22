package io.pawl.spring;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Arrays;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The method that a call runs in place of its own where the lock stayed busy: of the same object,
 * without a proxy, so that annotations of its own have no effect.
 *
 * @param takesReason whether its last parameter is the exception
 */
record Fallback(Method method, boolean takesReason) {

  /**
   * Finds {@code name} in the class of {@code locked} and those above it.
   *
   * @throws IllegalStateException where there is none that fits
   */
  static Fallback of(String name, Method locked) {
    Class<?>[] usual = locked.getParameterTypes();
    Class<?>[] withReason = Arrays.copyOf(usual, usual.length + 1);
    withReason[usual.length] = LockNotAcquiredException.class;
    Method method = ReflectionUtils.findMethod(locked.getDeclaringClass(), name, withReason);
    boolean takesReason = method != null;
    if (method == null) {
      method = ReflectionUtils.findMethod(locked.getDeclaringClass(), name, usual);
    }
    if (method == null || !fits(method.getReturnType(), locked.getReturnType())) {
      throw new IllegalStateException(
          locked
              + " has no fallback '"
              + name
              + "'; write one with the same parameters and result, and, if you like,"
              + " LockNotAcquiredException as a last parameter");
    }
    ReflectionUtils.makeAccessible(method);
    return new Fallback(method, takesReason);
  }

  private static boolean fits(Class<?> result, Class<?> wanted) {
    return wanted == void.class || wanted.isAssignableFrom(result);
  }

  @Nullable Object run(MethodInvocation call, LockNotAcquiredException reason) throws Exception {
    @Nullable Object[] arguments = call.getArguments();
    if (takesReason) {
      arguments = Arrays.copyOf(arguments, arguments.length + 1);
      arguments[arguments.length - 1] = reason;
    }
    return run(call.getThis(), arguments);
  }

  /** On the last of the proxies and what is behind them that has the method. */
  private @Nullable Object run(@Nullable Object bean, @Nullable Object[] arguments)
      throws Exception {
    if (bean instanceof Advised proxy) {
      TargetSource targets = proxy.getTargetSource();
      Object target = targets.getTarget(); // it may be another one at each call
      try {
        if (target != null && (isOf(target) || !isOf(proxy))) {
          return run(target, arguments);
        }
      } finally {
        if (target != null) {
          targets.releaseTarget(target);
        }
      }
    }
    try {
      return method.invoke(bean, arguments);
    } catch (InvocationTargetException e) {
      Throwable cause = e.getCause();
      if (cause instanceof Exception known) {
        throw known;
      }
      if (cause instanceof Error error) {
        throw error;
      }
      throw new UndeclaredThrowableException(cause);
    }
  }

  /** Whether it has the method, as a target of a proxy of an interface may not. */
  private boolean isOf(Object bean) {
    return method.getDeclaringClass().isInstance(bean);
  }

  static @Nullable Object behindProxies(@Nullable Object target) {
    Object found = target;
    for (Object next = found; next != null; next = AopProxyUtils.getSingletonTarget(next)) {
      found = next;
    }
    return found;
  }
}

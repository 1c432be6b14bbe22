package io.pawl.spring;

import io.pawl.Candidacy;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Puts {@link Leader} into effect: finds the methods as beans are made, stands for election when
 * the application has started, and withdraws before anything else stops. Thread-safe.
 */
public final class Leaders implements BeanPostProcessor, SmartLifecycle {

  private final Supplier<Pawl> pawl;
  private final Supplier<LockSettings> settings;
  private final ConfigurableBeanFactory beans;
  private final List<Found> found = new CopyOnWriteArrayList<>();
  private final List<Candidacy> candidacies = new CopyOnWriteArrayList<>();
  private volatile boolean running;

  private record Found(String beanName, Object bean, Method method, Leader leader) {}

  /**
   * @param pawl asked when the application has started, if there is any such method
   * @param settings as {@code pawl}
   */
  public Leaders(
      Supplier<Pawl> pawl, Supplier<LockSettings> settings, ConfigurableBeanFactory beans) {
    this.pawl = pawl;
    this.settings = settings;
    this.beans = beans;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    Class<?> type = AopProxyUtils.ultimateTargetClass(bean);
    if (AnnotationUtils.isCandidateClass(type, Leader.class)) {
      Map<Method, Leader> methods =
          MethodIntrospector.selectMethods(
              type,
              (MethodIntrospector.MetadataLookup<Leader>)
                  method -> AnnotatedElementUtils.findMergedAnnotation(method, Leader.class));
      methods.forEach((method, leader) -> found.add(checked(name, bean, method, leader)));
    }
    return bean;
  }

  private static Found checked(String name, Object bean, Method method, Leader leader) {
    Class<?>[] parameters = method.getParameterTypes();
    if (parameters.length > 1 || parameters.length == 1 && parameters[0] != Lease.class) {
      throw new IllegalStateException(
          method + " leads with no parameter, or with one of type " + Lease.class.getName());
    }
    if (leader.name().isBlank()) {
      throw new IllegalStateException("the election of " + method + " has no name; give it one");
    }
    Method callable = AopUtils.selectInvocableMethod(method, bean.getClass());
    ReflectionUtils.makeAccessible(callable);
    return new Found(name, bean, callable, leader);
  }

  @Override
  public void start() {
    running = true;
    for (Found each : found) {
      candidacies.add(
          pawl.get()
              .election(resolved(each.leader.name()), options(each.leader))
              .stand(each.beanName, lease -> lead(each, lease)));
    }
  }

  private LockOptions options(Leader leader) {
    String lease = resolved(leader.lease());
    Duration length =
        lease.isBlank() ? settings.get().lease() : DurationFormatterUtils.detectAndParse(lease);
    return LockOptions.defaults().lease(length);
  }

  private String resolved(String text) {
    String resolved = beans.resolveEmbeddedValue(text);
    return resolved == null ? "" : resolved;
  }

  private static void lead(Found leader, Lease lease) throws Exception {
    Held held = Leases.enter(lease);
    try {
      if (leader.method.getParameterCount() == 0) {
        leader.method.invoke(leader.bean);
      } else {
        leader.method.invoke(leader.bean, lease);
      }
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw e;
    } finally {
      Leases.leave(held);
    }
  }

  /** Waits for each leader for at most 5 s. */
  @Override
  public void stop() {
    running = false;
    candidacies.forEach(Candidacy::close);
    candidacies.clear();
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  /** A context that tests have put aside goes on later. */
  @Override
  public boolean isPauseable() {
    return false;
  }
}

package io.pawl.spring;

import io.pawl.Candidacy;
import io.pawl.Election;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;
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
public final class Leaders implements DestructionAwareBeanPostProcessor, SmartLifecycle {

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Supplier<Pawl> pawl;
  private final Supplier<LockSettings> settings;
  private final ConfigurableBeanFactory beans;
  private final ReentrantLock changing = new ReentrantLock();
  private final List<Found> found = new ArrayList<>();
  private final Map<Found, Candidacy> candidacies = new IdentityHashMap<>();
  private volatile boolean running;

  /**
   * @param name of the election
   * @param lease blank where it is the usual one
   */
  private record Found(String beanName, Object bean, Method method, String name, String lease) {
    boolean isOf(Object other) {
      return Fallback.behindProxies(bean) == Fallback.behindProxies(other);
    }

    boolean isSame(Found other) {
      return isOf(other.bean)
          && method.getName().equals(other.method.getName())
          && method.getParameterCount() == other.method.getParameterCount()
          && name.equals(other.name);
    }
  }

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

  /** Whether beans of this type have to be made though nobody asks for them. */
  public static boolean leads(Class<?> type) {
    return AnnotationUtils.isCandidateClass(type, Leader.class) && !methods(type).isEmpty();
  }

  private static Map<Method, Leader> methods(Class<?> type) {
    return MethodIntrospector.selectMethods(
        type,
        (MethodIntrospector.MetadataLookup<Leader>)
            method -> AnnotatedElementUtils.findMergedAnnotation(method, Leader.class));
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    Class<?> type = AopProxyUtils.ultimateTargetClass(bean);
    if (AnnotationUtils.isCandidateClass(type, Leader.class)) {
      List<Found> leaders = new ArrayList<>();
      methods(type).forEach((method, leader) -> leaders.add(checked(name, bean, method, leader)));
      add(leaders);
    }
    return bean;
  }

  /**
   * A bean that is made after the start stands at once; one that is another bean, as a method of a
   * configuration may return it, stands already.
   */
  private void add(List<Found> leaders) {
    List<Found> added = new ArrayList<>();
    changing.lock();
    try {
      for (Found leader : leaders) {
        if (found.stream().noneMatch(leader::isSame)) {
          found.add(leader);
          added.add(leader);
        }
      }
    } finally {
      changing.unlock();
    }
    if (running) {
      try {
        added.forEach(this::stand);
      } catch (RuntimeException | Error e) { // and whoever asks for the bean again makes another
        end(forget(added));
        throw e;
      }
    }
  }

  @Override
  public boolean requiresDestruction(Object bean) {
    changing.lock();
    try {
      return found.stream().anyMatch(each -> each.isOf(bean));
    } finally {
      changing.unlock();
    }
  }

  /** As by {@link #stop}, where a bean ends before the application does. */
  @Override
  public void postProcessBeforeDestruction(Object bean, String name) {
    List<Found> ending;
    changing.lock();
    try {
      ending =
          found.stream().filter(each -> each.isOf(bean) && each.beanName.equals(name)).toList();
    } finally {
      changing.unlock();
    }
    end(forget(ending));
  }

  private List<Candidacy> forget(List<Found> leaders) {
    changing.lock();
    try {
      found.removeIf(each -> leaders.stream().anyMatch(leader -> leader == each));
      return leaders.stream().map(candidacies::remove).filter(Objects::nonNull).toList();
    } finally {
      changing.unlock();
    }
  }

  private Found checked(String name, Object bean, Method method, Leader leader) {
    Class<?>[] parameters = method.getParameterTypes();
    if (parameters.length > 1 || parameters.length == 1 && parameters[0] != Lease.class) {
      throw new IllegalStateException(
          method + " leads with no parameter, or with one of type " + Lease.class.getName());
    }
    if (goesOn(method, AopProxyUtils.ultimateTargetClass(bean))) {
      throw new IllegalStateException(
          method
              + " goes on after it has returned, and its leadership would not; let it return when it"
              + " has led, without @Async");
    }
    if (leader.name().isBlank()) {
      throw new IllegalStateException("the election of " + method + " has no name; give it one");
    }
    if (beans.containsBean(name) && !beans.isSingleton(name)) {
      throw new IllegalStateException(
          "bean '" + name + "' leads by " + method + " and is no singleton; make it one");
    }
    Method callable = AopUtils.selectInvocableMethod(method, bean.getClass());
    if (AopUtils.isCglibProxy(bean) && Modifier.isFinal(callable.getModifiers())) {
      throw new IllegalStateException(
          method
              + " is final and its bean has a proxy, on which it would run without the bean's"
              + " fields; take the final away");
    }
    ReflectionUtils.makeAccessible(callable);
    return new Found(name, bean, callable, resolved(leader.name()), resolved(leader.lease()));
  }

  private static boolean goesOn(Method method, Class<?> type) {
    return Completion.of(method) != Completion.RETURNED || Completion.isAsync(method, type);
  }

  @Override
  public void start() {
    List<Found> all;
    changing.lock();
    try {
      running = true;
      all = List.copyOf(found);
    } finally {
      changing.unlock();
    }
    all.forEach(this::stand);
  }

  /**
   * The client is made under no lock of ours: who makes a bean under Spring's may come to add it.
   */
  private void stand(Found leader) {
    Election election = pawl.get().election(leader.name, options(leader.lease));
    changing.lock();
    try {
      if (running && isKnown(leader) && !candidacies.containsKey(leader)) {
        candidacies.put(leader, election.stand(leader.beanName, lease -> lead(leader, lease)));
      }
    } finally {
      changing.unlock();
    }
  }

  /** By itself: a record would compare beans by their own idea of it. */
  private boolean isKnown(Found leader) {
    return found.stream().anyMatch(each -> each == leader);
  }

  private LockOptions options(String lease) {
    Duration length =
        lease.isBlank() ? settings.get().lease() : DurationFormatterUtils.detectAndParse(lease);
    return LockOptions.defaults().lease(length);
  }

  private String resolved(String text) {
    String resolved = beans.resolveEmbeddedValue(text);
    return resolved == null ? "" : resolved;
  }

  private void lead(Found leader, Lease lease) throws Exception {
    Held held = Leases.enter(pawl.get(), new Taken.One(lease));
    Leases.Innermost around = Leases.called(List.of(held));
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
      Leases.returned(around);
      Leases.leave(held);
    }
  }

  /** Interrupts all leaders, and waits for them for at most 5 s in all. */
  @Override
  public void stop() {
    List<Candidacy> ending;
    changing.lock();
    try {
      running = false;
      ending = List.copyOf(candidacies.values());
      candidacies.clear();
    } finally {
      changing.unlock();
    }
    end(ending);
  }

  private static void end(List<Candidacy> ending) {
    List<CompletableFuture<Void>> ends = ending.stream().map(Candidacy::closeAsync).toList();
    long over = System.nanoTime() + PATIENCE.toNanos();
    for (int i = 0; i < ending.size(); i++) {
      if (!ends.get(i).isDone()) {
        long left = Math.max(0, over - System.nanoTime());
        ending.get(i).close(Duration.ofNanos(left)); // which does not wait for itself
      }
    }
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

package io.pawl.spring;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.MethodClassKey;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** The methods of beans that were asked about, with what their annotations say: some hundreds. */
final class LockedMethods {

  private final ConfigurableBeanFactory beans;
  private final Map<MethodClassKey, Optional<LockedMethod>> known = new ConcurrentHashMap<>();
  private final Map<Specific, Optional<LockedMethod>> specific = new ConcurrentHashMap<>();
  private final Set<Class<?>> checked = ConcurrentHashMap.newKeySet();

  /** A method of one class of beans, which may have it from another, as its siblings have. */
  private record Specific(Method method, Class<?> owner) {

    static Specific of(Method method, Class<?> type) {
      return new Specific(
          method, isMade(type) ? madeOf(method, type) : ClassUtils.getUserClass(type));
    }

    private static Class<?> madeOf(Method method, Class<?> type) {
      Class<?> declaring = method.getDeclaringClass();
      return Stream.<Class<?>>of(type.getInterfaces())
          .filter(declaring::isAssignableFrom)
          .findFirst()
          .orElse(declaring);
    }

    String text() {
      return owner.getSimpleName() + "." + method.getName();
    }
  }

  LockedMethods(ConfigurableBeanFactory beans) {
    this.beans = beans;
  }

  /**
   * Returns null for a method without annotations.
   *
   * @throws IllegalStateException where this method, or another of its class, has annotations that
   *     could not do what they say
   */
  @Nullable LockedMethod find(Method method, Class<?> type) {
    LockedMethod found = lookUp(method, type);
    if (found != null && !checked.contains(type)) { // Spring asks no further once it needs a proxy
      for (Class<?> each : isMade(type) ? type.getInterfaces() : new Class<?>[] {type}) {
        for (Method other : ReflectionUtils.getAllDeclaredMethods(each)) {
          lookUp(other, type);
        }
      }
      checked.add(type); // what was refused is refused again
    }
    return found;
  }

  private @Nullable LockedMethod lookUp(Method method, Class<?> type) {
    MethodClassKey key = new MethodClassKey(method, type);
    Optional<LockedMethod> found = known.get(key);
    if (found == null) { // under no lock of a map: whoever resolves placeholders may wait
      found = specific(Specific.of(mostSpecific(method, type), type));
      known.put(key, found);
    }
    return found.orElse(null);
  }

  private Optional<LockedMethod> specific(Specific key) {
    Optional<LockedMethod> found = specific.get(key);
    if (found != null) {
      return found;
    }
    Optional<LockedMethod> made = Optional.ofNullable(LockedMethod.of(key.method(), beans));
    Optional<LockedMethod> first = specific.putIfAbsent(key, made);
    return first == null ? made : first; // a job has one watch
  }

  private static Method mostSpecific(Method method, Class<?> type) {
    Method found = AopUtils.getMostSpecificMethod(method, type);
    return isMade(found.getDeclaringClass()) ? ofInterface(method, type) : found;
  }

  /** As callers of a bean that was made of interfaces know it, which override each other's too. */
  private static Method ofInterface(Method method, Class<?> type) {
    Class<?> declaring = method.getDeclaringClass();
    return Stream.<Class<?>>of(type.getInterfaces())
        .filter(each -> declaring.isAssignableFrom(each) || declaring == type)
        .map(each -> declared(method, each))
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(method);
  }

  private static @Nullable Method declared(Method method, Class<?> type) {
    Method found =
        ClassUtils.getMethodIfAvailable(type, method.getName(), method.getParameterTypes());
    return found == null ? null : BridgeMethodResolver.findBridgedMethod(found);
  }

  /**
   * Whether it was made of interfaces: its methods are final, or their parameters have no names.
   */
  private static boolean isMade(Class<?> type) {
    return Proxy.isProxyClass(type) || ClassUtils.isLambdaClass(type);
  }

  /** How the jobs go that beans have, in the order of their methods. */
  List<JobState> jobs() {
    long now = System.nanoTime();
    return specific.entrySet().stream()
        .flatMap(
            each ->
                each
                    .getValue()
                    .flatMap(found -> found.jobState(each.getKey().text(), now))
                    .stream())
        .sorted(Comparator.comparing(JobState::job))
        .toList();
  }
}

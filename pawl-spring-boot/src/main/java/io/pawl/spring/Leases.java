package io.pawl.spring;

import io.pawl.GroupLease;
import io.pawl.Lease;
import io.pawl.Pawl;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;

/**
 * The leases under which the code of this thread runs, by {@link Locked}, {@link ScheduledOnce} and
 * {@link Leader}. Threads that a method starts have none; pass them the lease. In a {@code Mono} or
 * {@code Flux} the lease is in the context, under the key {@code Lease.class}.
 */
public final class Leases {

  private static final ThreadLocal<@Nullable Own> own = new ThreadLocal<>();

  /** What a thread has taken, and what the innermost of its calls runs under, if any runs. */
  private static final class Own {
    private final List<Held> held = new ArrayList<>(2);
    private List<Held> innermost = List.of(); // several where it joins several
    private @Nullable MethodInvocation handed;
  }

  /**
   * What a thread's innermost call is.
   *
   * @param held what it runs under
   * @param handed it itself, where it goes on through a second proxy
   */
  record Innermost(List<Held> held, @Nullable MethodInvocation handed) {}

  private Leases() {}

  /**
   * Returns the lease of the innermost method.
   *
   * @throws IllegalStateException on a thread that runs no such method, and in one that holds
   *     several locks together or joins several calls
   */
  public static Lease current() {
    if (innermost() instanceof Taken.Several several) {
      throw new IllegalStateException(
          "this thread runs under locks "
              + several.tokens().keySet()
              + " together; ask for Leases.currentGroup()");
    }
    return find().orElseThrow(Leases::none);
  }

  /**
   * Returns the lease of the innermost method, empty on a thread that runs no such method, and in
   * one that holds several locks together or joins several calls.
   */
  public static Optional<Lease> find() {
    return innermost() instanceof Taken.One one ? Optional.of(one.lease()) : Optional.empty();
  }

  /**
   * Returns the lease of the innermost method, which holds several locks together: {@link
   * Locked#names}.
   *
   * @throws IllegalStateException on a thread that runs no such method, and in one that holds a
   *     single lock or joins several calls
   */
  public static GroupLease currentGroup() {
    if (innermost() instanceof Taken.One one) {
      throw new IllegalStateException(
          "this thread runs under lock '"
              + one.lease().lock()
              + "' alone; ask for Leases.current()");
    }
    if (innermost() instanceof Taken.Several several) {
      return several.lease();
    }
    throw none();
  }

  /** Outside of all calls that of the last of them, which a transaction may hold still. */
  private static @Nullable Taken innermost() {
    Own mine = own.get();
    if (mine != null && !mine.innermost.isEmpty()) {
      return mine.innermost.size() == 1 ? mine.innermost.get(0).taken() : null;
    }
    List<Held> all = all();
    return all.isEmpty() ? null : all.get(all.size() - 1).taken();
  }

  private static IllegalStateException none() {
    Own mine = own.get();
    return new IllegalStateException(
        mine != null && mine.innermost.size() > 1
            ? "this call joins several around it, each with a lease of its own; ask for Leases.of"
            : "this thread runs under no lease: was a @Locked method called through its bean?");
  }

  /**
   * Returns the lease of the lock with this name, empty where this thread has none, or holds it
   * together with others; of several clients' locks that of the innermost method.
   */
  public static Optional<Lease> of(String lock) {
    List<Held> all = all();
    for (int i = all.size() - 1; i >= 0; i--) {
      if (all.get(i).taken() instanceof Taken.One one && one.has(lock)) {
        return Optional.of(one.lease());
      }
    }
    return Optional.empty();
  }

  static @Nullable Held held(Pawl client, String lock) {
    List<Held> all = all();
    for (int i = all.size() - 1; i >= 0; i--) {
      if (all.get(i).has(client, lock)) {
        return all.get(i);
      }
    }
    return null;
  }

  /** Those that this thread has now; of the others nothing stays with the thread. */
  static List<Held> all() {
    Own mine = own.get();
    if (mine == null) {
      return List.of();
    }
    mine.held.removeIf(Held::isOver); // a transaction may end on another thread
    if (mine.held.isEmpty() && mine.innermost.isEmpty()) {
      own.remove();
      return List.of();
    }
    return mine.held;
  }

  private static Own own() {
    Own mine = own.get();
    if (mine == null) {
      mine = new Own();
      own.set(mine);
    }
    return mine;
  }

  static Held enter(Pawl client, Taken taken) {
    Held entered = new Held(client, taken);
    own().held.add(entered);
    return entered;
  }

  static void leave(Held left) {
    left.end();
    all();
  }

  /**
   * A call begins that runs under {@code held}, which it has entered or joins. Returns what the
   * call around it is, for {@link #returned}.
   */
  static Innermost called(List<Held> held, MethodInvocation call) {
    return called(new Innermost(held, call.getThis() instanceof Advised ? call : null));
  }

  /** As {@link #called(List, MethodInvocation)}, of one that comes through no proxy. */
  static Innermost called(List<Held> held) {
    return called(new Innermost(held, null));
  }

  private static Innermost called(Innermost call) {
    Own mine = own();
    Innermost around = new Innermost(mine.innermost, mine.handed);
    mine.innermost = call.held;
    mine.handed = call.handed;
    return around;
  }

  /** The innermost call has ended. */
  static void returned(Innermost around) {
    called(around);
    all();
  }

  /** The innermost call goes on through a second proxy, and may from there through a third. */
  static Innermost handedOn(MethodInvocation call) {
    return called(own().innermost, call);
  }

  /**
   * What the innermost call runs under, where {@code inner} is that call once more, through a proxy
   * of the proxy that took its locks; else none. A bean has two that is another bean: {@code @Bean
   * Api api(Service service) { return service; }}. The outer one takes them, around its
   * transaction; the inner one would wait for them.
   */
  static List<Held> handedTo(MethodInvocation inner) {
    Own mine = own.get();
    return mine != null && isHandedTo(inner, mine.handed) ? mine.innermost : List.of();
  }

  /** Whether {@code inner} is {@code outer} once more, through a proxy of its proxy. */
  static boolean isHandedTo(MethodInvocation inner, @Nullable MethodInvocation outer) {
    return outer != null
        && inner instanceof ProxyMethodInvocation through
        && proxies(outer).anyMatch(proxy -> leadsTo(proxy, through.getProxy()))
        && isSame(inner.getMethod(), outer.getMethod(), inner.getThis());
  }

  /** One whose target may be another at each call, as of a {@code @Lazy} parameter, to any. */
  private static boolean leadsTo(Advised proxy, Object other) {
    TargetSource targets = proxy.getTargetSource();
    Class<?> type = targets.isStatic() ? null : targets.getTargetClass();
    return proxy == other || type != null && type.isInstance(other);
  }

  /** The proxies that a call comes to behind its own, where its bean is another one. */
  static Stream<Advised> proxies(MethodInvocation call) {
    return Stream.<@Nullable Object>iterate(
            call.getThis(), Objects::nonNull, AopProxyUtils::getSingletonTarget)
        .filter(Advised.class::isInstance)
        .map(Advised.class::cast);
  }

  /** One may be an interface's, which may have other parameters where it is generic. */
  private static boolean isSame(Method one, Method other, @Nullable Object target) {
    Class<?> type = target == null ? null : AopProxyUtils.ultimateTargetClass(target);
    Method here = AopUtils.getMostSpecificMethod(one, type);
    Method there = AopUtils.getMostSpecificMethod(other, type);
    return here.getName().equals(there.getName())
        && Arrays.equals(here.getParameterTypes(), there.getParameterTypes());
  }
}

package io.pawl.spring;

import io.pawl.error.LeaseLostException;
import io.pawl.error.StaleTokenException;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs the method of a bean under a lock, one call at a time on all machines.
 *
 * <pre>{@code
 * @Locked(name = "orders:#{#id}")
 * @Transactional
 * public void ship(long id) { … }
 * }</pre>
 *
 * <p><b>The lock is taken before a transaction begins and released after it has ended</b>: the next
 * holder sees what was committed. A call inside of a transaction that is open already is refused or
 * holds the lock until that transaction has ended, see {@link OpenTransaction}.
 *
 * <p>A method that returns a {@code CompletionStage}, {@code Mono} or {@code Flux} holds the lock
 * until that has completed. A call on a thread whose call holds the same lock joins it. A lease
 * that was lost before the method ended normally is a {@link LeaseLostException}.
 *
 * <p>As with all annotations of Spring, the call has to come through the bean's proxy: not from the
 * same object, nor to a private or final method, which is refused when the bean is made. May stand
 * on annotations of your own.
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Reflective
public @interface Locked {

  /** As {@link #name}. */
  @AliasFor("name")
  String value() default "";

  /**
   * The lock's name: text, with placeholders as <code>${…}</code> and SpEL as <code>#{…}</code>,
   * which sees the arguments by their names, as in <code>orders:#{#order.id}</code>, and beans as
   * <code>#{@bean}</code>. An expression without a value is refused.
   */
  @AliasFor("value")
  String name() default "";

  /**
   * Several locks in place of one, each as {@link #name}: all are taken together, or none. An
   * expression that is a collection or an array stands for one name for each element; names that
   * are there twice are one. At most 256. In any order: calls that want the same locks never wait
   * for each other in a circle.
   */
  String[] names() default {};

  /**
   * How long to wait for the lock, as {@code 500ms}, {@code 10s} or {@code PT10S}. Unless set,
   * {@code pawl.locked.wait-at-most} with {@link OnBusy#THROW} or a {@link #fallback}, and no wait
   * with {@link OnBusy#SKIP}.
   */
  String waitAtMost() default "";

  /**
   * How long others wait for a holder that died, as {@link #waitAtMost}; it is renewed while the
   * method runs. Unless set, {@code pawl.locked.lease}.
   */
  String lease() default "";

  /** What becomes of a call that does not get the lock in time. */
  OnBusy onBusy() default OnBusy.THROW;

  /**
   * The name of a method that runs without the lock in place of a call that does not get it in
   * time: of the same object, with the same parameters and result. It may have a {@link
   * LockNotAcquiredException} as a further, last parameter, and may be private. No proxy is
   * between: its own annotations have no effect. A wait that was interrupted throws all the same.
   */
  String fallback() default "";

  /** Whether calls share the lock as readers do: with one another, not with calls that do not. */
  boolean shared() default false;

  /**
   * Whether a transaction that ends in the method is rolled back when its lease was overtaken. When
   * the method is entered, and just before each of its transactions commits, the token is compared
   * in table {@code pawl_fence} of the application's {@code DataSource}; a token that is too small
   * ends the call with a {@link StaleTokenException}. So no transaction of an earlier holder
   * commits after this method was entered. Needs {@code pawl-sql}, a transaction within the method,
   * and none around it.
   */
  boolean fenced() default false;

  /**
   * What becomes of a call while a transaction is open already. A method that is fenced, or that
   * returns a stage, a {@code Mono} or a {@code Flux}, refuses it whatever is configured.
   */
  OpenTransaction openTransaction() default OpenTransaction.AS_CONFIGURED;
}

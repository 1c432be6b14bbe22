package io.pawl.spring;

import io.pawl.Candidacy;
import io.pawl.Election;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs the method of a bean for as long as this application leads: on one machine of many, on a
 * thread of its own, from the start of the application until its end.
 *
 * <pre>{@code
 * @Leader("shipping")
 * void ship(Lease lease) throws InterruptedException {
 *   while (true) { … }
 * }
 * }</pre>
 *
 * <p>The method has no parameters, or the lease. It is interrupted when the leadership is about to
 * be lost or the application stops, and should end then. The candidate stands again when the method
 * has ended by that interrupt or an exception; a method that returns by itself ends the candidacy.
 *
 * @see Election
 * @see Candidacy
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Reflective
public @interface Leader {

  /** As {@link #name}. */
  @AliasFor("name")
  String value() default "";

  /** The election's name, with placeholders as <code>${…}</code>. */
  @AliasFor("value")
  String name() default "";

  /** As {@link Locked#lease}: after so long another candidate leads in place of one that died. */
  String lease() default "";
}

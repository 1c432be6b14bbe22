/**
 * Pawl under <a href="https://spring.io/projects/spring-integration">Spring Integration</a>: {@link
 * io.pawl.spring.integration.PawlLockRegistry} is a lock registry on any of Pawl's stores, and
 * {@link io.pawl.spring.integration.TransitionLockRegistry} takes an application's old registry
 * along while both of its versions run.
 */
@NullMarked
package io.pawl.spring.integration;

import org.jspecify.annotations.NullMarked;

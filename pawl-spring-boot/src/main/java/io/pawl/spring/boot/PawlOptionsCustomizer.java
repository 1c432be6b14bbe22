package io.pawl.spring.boot;

import io.pawl.options.PawlOptions;

/** A bean that changes the options of the application's client: its executor, say. */
@FunctionalInterface
public interface PawlOptionsCustomizer {

  /** Returns {@code options}, or a changed copy. */
  PawlOptions customize(PawlOptions options);
}

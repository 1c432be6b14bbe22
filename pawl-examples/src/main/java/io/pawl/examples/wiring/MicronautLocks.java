package io.pawl.examples.wiring;

import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Property;
import io.pawl.Pawl;
import io.pawl.options.PawlOptions;
import jakarta.inject.Singleton;

/** The client of a Micronaut application. */
@Factory
class MicronautLocks {

  @Singleton
  @Bean(preDestroy = "close")
  Pawl pawl(@Property(name = "pawl.url") String url) {
    return Pawl.connect(url, PawlOptions.defaults().releaseAtShutdown(false));
  }
}

package io.pawl.examples.wiring;

import io.pawl.Pawl;
import io.pawl.options.PawlOptions;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** The client of a Quarkus application, and of any other with CDI and MicroProfile's settings. */
@ApplicationScoped
class QuarkusLocks {

  @Produces
  @Singleton // the class is final, so that no proxy can stand for it
  Pawl pawl(@ConfigProperty(name = "pawl.url") String url) {
    return Pawl.connect(url, PawlOptions.defaults().releaseAtShutdown(false));
  }

  void close(@Disposes Pawl pawl) {
    pawl.close();
  }
}

package io.pawl.spring.boot;

import io.pawl.spi.LockStore;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;

/** Finds where the locks are: at {@code pawl.url}, or in a service of the application's. */
final class StoreFinder {

  private final PawlProperties properties;
  private final ObjectProvider<StoreSource> sources;

  StoreFinder(PawlProperties properties, ObjectProvider<StoreSource> sources) {
    this.properties = properties;
    this.sources = sources;
  }

  /**
   * Returns what opens the store. No round trip.
   *
   * @throws NoStoreException where there is none
   */
  Supplier<LockStore> find() {
    String url = properties.url();
    if (url != null && !url.isBlank()) {
      return at(url);
    }
    List<StoreSource> allowed =
        sources
            .orderedStream()
            .filter(
                source ->
                    properties.store() == StoreChoice.AUTO || properties.store() == source.choice())
            .toList();
    for (StoreSource source : allowed) {
      Optional<Supplier<LockStore>> store = source.find();
      if (store.isPresent()) {
        return store.get();
      }
    }
    throw new NoStoreException(
        "Pawl has no store: pawl.url is not set, and the application has neither a DataSource with"
            + " pawl-sql nor Redis connection details with pawl-redis on the class path.",
        "Set pawl.url, as in pawl.url=redis://localhost or pawl.url=sqlite:/var/lib/app/locks.db,"
            + " and add pawl-sql or pawl-redis with its driver. For tests, add"
            + " pawl-spring-boot-starter-test. Without locks, set pawl.enabled=false.");
  }

  private static Supplier<LockStore> at(String url) {
    try {
      StoreUrl parsed = StoreUrl.parse(url);
      StoreProvider provider = Stores.provider(parsed);
      return () -> opened(provider, parsed);
    } catch (IllegalArgumentException e) {
      throw unusable(e);
    }
  }

  private static LockStore opened(StoreProvider provider, StoreUrl url) {
    try {
      return provider.open(url);
    } catch (IllegalArgumentException e) {
      throw unusable(e);
    }
  }

  private static NoStoreException unusable(IllegalArgumentException e) {
    return new NoStoreException(
        "Pawl has no store: pawl.url cannot be used. " + e.getMessage(),
        "Correct pawl.url, or add the module of its store, such as pawl-sql or pawl-redis.",
        e);
  }
}

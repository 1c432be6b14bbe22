package io.pawl.spring.boot;

import io.pawl.spi.LockStore;
import java.util.Optional;
import java.util.function.Supplier;

/** A service of the application's that may have the locks. */
interface StoreSource {

  StoreChoice choice();

  /**
   * Returns what opens the store there, empty where the application has no such service. No round
   * trip.
   *
   * @throws NoStoreException where there is one that cannot be used
   */
  Optional<Supplier<LockStore>> find();
}

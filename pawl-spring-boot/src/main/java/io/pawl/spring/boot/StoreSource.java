package io.pawl.spring.boot;

import io.pawl.spi.LockStore;
import java.util.Optional;

/** A service of the application's that may have the locks. */
interface StoreSource {

  StoreChoice choice();

  /** Returns the store there, empty where the application has no such service. */
  Optional<LockStore> open();
}

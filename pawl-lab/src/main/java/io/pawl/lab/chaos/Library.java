package io.pawl.lab.chaos;

import io.pawl.lab.chaos.Ground.Store;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** Whose locks are used. */
enum Library {
  PAWL(EnumSet.allOf(Store.class)),
  /** Its {@code RFencedLock} by its own defaults, with a watchdog as short as Pawl's leases. */
  REDISSON(EnumSet.of(Store.REDIS, Store.VALKEY));

  private final Set<Store> stores;

  Library(Set<Store> stores) {
    this.stores = stores;
  }

  boolean runsOn(Store store) {
    return stores.contains(store);
  }

  /** As people write it. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}

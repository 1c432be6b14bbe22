package io.pawl.memory;

import io.pawl.spi.LockStore;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import java.util.Set;

/**
 * Opens {@code memory:}, a new private store, and {@code memory:name}, the store of that name in
 * this JVM.
 */
public final class MemoryProvider implements StoreProvider {

  @Override
  public Set<String> schemes() {
    return Set.of("memory");
  }

  @Override
  public LockStore open(StoreUrl url) {
    return url.rest().isEmpty() ? new MemoryStore() : MemoryStore.named(url.rest());
  }
}

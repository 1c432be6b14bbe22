package io.pawl.spi;

import java.util.Set;

/** Opens stores by URL. Found with {@link java.util.ServiceLoader}. */
public interface StoreProvider {

  /** The URL schemes that it opens, lower case, such as {@code sqlite} or {@code jdbc:mysql}. */
  Set<String> schemes();

  /**
   * Opens a store; the caller closes it.
   *
   * @throws IllegalArgumentException for a URL that cannot be right, naming the part
   * @throws io.pawl.StoreException where the store cannot be reached or used
   */
  LockStore open(StoreUrl url);
}

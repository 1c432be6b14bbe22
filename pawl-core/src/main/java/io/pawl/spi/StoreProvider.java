package io.pawl.spi;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Opens stores by URL. Found with {@link java.util.ServiceLoader}. */
public interface StoreProvider {

  /** The URL schemes that it opens, lower case, such as {@code sqlite} or {@code jdbc:mysql}. */
  Set<String> schemes();

  /**
   * Opens a store; the caller closes it.
   *
   * @throws IllegalArgumentException for a URL that cannot be right, naming the part
   * @throws io.pawl.error.StoreException where the store cannot be reached or used
   */
  LockStore open(StoreUrl url);

  /**
   * The URL of a store of this kind that needs no server and no configuration, in the user's state
   * directory; null where there is none.
   */
  default @Nullable String embeddedUrl() {
    return null;
  }
}

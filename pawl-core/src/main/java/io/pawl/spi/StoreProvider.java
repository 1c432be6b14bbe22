package io.pawl.spi;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Opens stores by URL. Found with {@link java.util.ServiceLoader}. */
public interface StoreProvider {

  /**
   * Returns the URL schemes that this provider opens, in lower case, such as {@code sqlite} or
   * {@code jdbc:mysql}.
   */
  Set<String> schemes();

  /**
   * Opens a store; the caller closes it.
   *
   * @throws IllegalArgumentException for an invalid URL, naming the part
   * @throws io.pawl.error.StoreException when the store cannot be reached or used
   */
  LockStore open(StoreUrl url);

  /**
   * Returns the URL of a store of this kind that needs no server and no configuration, in the
   * user's state directory; null if there is none.
   */
  default @Nullable String embeddedUrl() {
    return null;
  }
}

package io.pawl.spi;

import io.pawl.error.StoreException;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.TreeSet;

/** Finds the store for a URL among the modules on the class path or module path. */
public final class Stores {

  private Stores() {}

  /**
   * Opens the store at {@code url}; the caller closes it.
   *
   * @throws IllegalArgumentException when no module knows the scheme
   * @throws StoreException when the store cannot be reached or used
   */
  public static LockStore open(StoreUrl url) {
    return provider(url).open(url);
  }

  /**
   * Returns the provider that opens the store at {@code url}. No round trip.
   *
   * @throws IllegalArgumentException when no module knows the scheme
   */
  public static StoreProvider provider(StoreUrl url) {
    TreeSet<String> known = new TreeSet<>();
    for (ServiceLoader<StoreProvider> loader : loaders()) {
      for (StoreProvider provider : loader) {
        if (provider.schemes().contains(url.scheme())) {
          return provider;
        }
        known.addAll(provider.schemes());
      }
    }
    throw url.wrong(
        "no module here opens '"
            + url.scheme()
            + ":'; add the one that does to the class path, or use one of "
            + known);
  }

  /**
   * Returns the URL of the embedded store in the user's state directory.
   *
   * @throws IllegalStateException when no module has an embedded store
   */
  public static String embeddedUrl() {
    return loaders().stream()
        .flatMap(ServiceLoader::stream)
        .map(provider -> provider.get().embeddedUrl())
        .filter(Objects::nonNull)
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "no module here has an embedded store; add one to the class path, or name a"
                        + " store"));
  }

  /**
   * The context loader of some pools' threads sees no module; that of this class sees its own. They
   * find providers one by one, so that jars behind the one that is looked for stay closed.
   */
  private static List<ServiceLoader<StoreProvider>> loaders() {
    ClassLoader own = StoreProvider.class.getClassLoader();
    return List.of(
        ServiceLoader.load(StoreProvider.class), ServiceLoader.load(StoreProvider.class, own));
  }
}

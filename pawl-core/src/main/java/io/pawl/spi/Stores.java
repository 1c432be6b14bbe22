package io.pawl.spi;

import io.pawl.error.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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
    List<ServiceConfigurationError> unusable = new ArrayList<>();
    Optional<StoreProvider> found =
        first(
            provider -> {
              known.addAll(provider.schemes());
              return provider.schemes().contains(url.scheme()) ? provider : null;
            },
            unusable);
    return found.orElseThrow(
        () -> {
          IllegalArgumentException none =
              url.wrong(
                  "no module here opens '"
                      + url.scheme()
                      + ":'; add "
                      + moduleFor(url.scheme())
                      + " to the class path, or use one of "
                      + known);
          unusable.forEach(none::addSuppressed);
          return none;
        });
  }

  /** Of Pawl's own modules, where one does. */
  private static String moduleFor(String scheme) {
    if (scheme.startsWith("jdbc:") || scheme.equals("sqlite")) {
      return "pawl-sql";
    }
    if (scheme.startsWith("redis") || scheme.startsWith("valkey")) {
      return "pawl-redis";
    }
    return switch (scheme) {
      case "etcd", "etcds" -> "pawl-etcd";
      case "zk", "zookeeper" -> "pawl-zookeeper";
      case "gate" -> "pawl-composite";
      case "quorum" -> "pawl-quorum";
      default -> "the one that does";
    };
  }

  /**
   * The first that {@code look} finds. What one loader cannot tell keeps the other from nothing:
   * the context loader may well have a copy of Pawl of its own.
   *
   * @param unusable what went wrong meanwhile
   */
  private static <T> Optional<T> first(
      Function<StoreProvider, @Nullable T> look, List<ServiceConfigurationError> unusable) {
    for (ServiceLoader<StoreProvider> loader : loaders()) {
      try {
        for (StoreProvider provider : loader) {
          T found = look.apply(provider);
          if (found != null) {
            return Optional.of(found);
          }
        }
      } catch (ServiceConfigurationError e) {
        unusable.add(e);
      }
    }
    return Optional.empty();
  }

  /**
   * Returns the URL of the embedded store in the user's state directory.
   *
   * @throws IllegalStateException when no module has an embedded store
   */
  public static String embeddedUrl() {
    List<ServiceConfigurationError> unusable = new ArrayList<>();
    return first(StoreProvider::embeddedUrl, unusable)
        .orElseThrow(
            () -> {
              IllegalStateException none =
                  new IllegalStateException(
                      "no module here has an embedded store; add one to the class path, or name a"
                          + " store");
              unusable.forEach(none::addSuppressed);
              return none;
            });
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

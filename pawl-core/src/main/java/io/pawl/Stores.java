package io.pawl;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import java.nio.file.Path;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;

/** Finds the store for a URL among the modules on the class path. */
public final class Stores {

  private static final String MEMORY = "memory";

  private static final Map<String, String> MODULES =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry(MEMORY, "pawl-core"),
              Map.entry("sqlite", "pawl-sql and org.xerial:sqlite-jdbc"),
              Map.entry("jdbc:mysql", "pawl-sql and com.mysql:mysql-connector-j"),
              Map.entry("jdbc:mariadb", "pawl-sql and org.mariadb.jdbc:mariadb-java-client"),
              Map.entry("jdbc:postgresql", "pawl-sql and org.postgresql:postgresql"),
              Map.entry("gate", "pawl-composite"),
              Map.entry("redis", "pawl-redis"),
              Map.entry("rediss", "pawl-redis"),
              Map.entry("redis-sentinel", "pawl-redis"),
              Map.entry("redis-cluster", "pawl-redis"),
              Map.entry("valkey", "pawl-redis"),
              Map.entry("valkeys", "pawl-redis"),
              Map.entry("valkey-sentinel", "pawl-redis"),
              Map.entry("valkey-cluster", "pawl-redis")));

  private Stores() {}

  /**
   * Opens the store at {@code url}; the caller closes it.
   *
   * @throws IllegalArgumentException where no module on the class path knows the scheme
   * @throws StoreException when the store cannot be reached or used
   */
  public static LockStore open(StoreUrl url) {
    return provider(url).open(url);
  }

  /**
   * Who opens the store at {@code url}. No round trip.
   *
   * @throws IllegalArgumentException where no module on the class path knows the scheme
   */
  public static StoreProvider provider(StoreUrl url) {
    if (url.scheme().equals(MEMORY)) {
      return new InMemory();
    }
    for (StoreProvider provider : ServiceLoader.load(StoreProvider.class)) {
      if (provider.schemes().contains(url.scheme())) {
        return provider;
      }
    }
    String module = MODULES.get(url.scheme());
    if (module != null) {
      throw new IllegalArgumentException(
          "store URL '" + url + "': add " + module + " to the class path");
    }
    throw new IllegalArgumentException(
        "store URL '" + url + "': scheme '" + url.scheme() + "' is unknown; known are " + MODULES);
  }

  /** {@code memory:} is a store of its own, {@code memory:name} this JVM's of that name. */
  private static final class InMemory implements StoreProvider {

    @Override
    public Set<String> schemes() {
      return Set.of(MEMORY);
    }

    @Override
    public LockStore open(StoreUrl url) {
      return url.rest().isEmpty() ? new MemoryStore() : MemoryStore.named(url.rest());
    }
  }

  /** The URL of the embedded store in the user's state directory. */
  public static String embeddedUrl() {
    return "sqlite:" + stateDirectory().resolve("pawl").resolve("locks.db");
  }

  private static Path stateDirectory() {
    String os = System.getProperty("os.name", "");
    Path home = Path.of(System.getProperty("user.home", "."));
    String windows = System.getenv("LOCALAPPDATA");
    String xdg = System.getenv("XDG_STATE_HOME");
    if (xdg != null && Path.of(xdg).isAbsolute()) {
      return Path.of(xdg);
    }
    if (os.startsWith("Windows") && windows != null) {
      return Path.of(windows);
    }
    if (os.startsWith("Mac")) {
      return home.resolve("Library").resolve("Application Support");
    }
    return home.resolve(".local").resolve("state");
  }
}

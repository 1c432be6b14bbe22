package io.pawl.cli.command;

import io.pawl.spi.StoreProvider;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/**
 * Jars beside the CLI's own with the clients of some stores. They are not on the class path: any
 * class that is looked for in vain would open them, at every start.
 */
final class ClientJars {

  private static final List<String> NAMES = List.of("servers.jar", "zookeeper.jar");

  private ClientJars() {}

  /** The classes in them, beside those of the class path. */
  private static final class Clients extends URLClassLoader {
    Clients(URL[] jars, ClassLoader own) {
      super(jars, own);
    }
  }

  /** Makes them visible to the calling thread unless the class path has a store of this scheme. */
  static void useFor(String scheme) {
    useFor(scheme, beside(ClientJars.class.getProtectionDomain().getCodeSource()));
  }

  /** Once for a thread: whoever opens a store again would load its client again. */
  static void useFor(String scheme, URL[] jars) {
    Thread thread = Thread.currentThread();
    if (jars.length == 0 || thread.getContextClassLoader() instanceof Clients) {
      return;
    }
    ClassLoader own = ClientJars.class.getClassLoader();
    for (StoreProvider provider : ServiceLoader.load(StoreProvider.class, own)) {
      if (provider.schemes().contains(scheme)) {
        return;
      }
    }
    thread.setContextClassLoader(new Clients(jars, own));
  }

  private static URL[] beside(CodeSource own) {
    List<URL> jars = new ArrayList<>();
    try {
      URI place = own.getLocation().toURI();
      for (String name : NAMES) {
        Path jar = Path.of(place).resolveSibling(name);
        if (Files.isRegularFile(jar)) {
          jars.add(jar.toUri().toURL());
        }
      }
    } catch (URISyntaxException | MalformedURLException e) {
      throw new IllegalStateException("cannot find what lies beside " + own.getLocation(), e);
    }
    return jars.toArray(URL[]::new);
  }
}

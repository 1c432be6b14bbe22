package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stores of an application, which Pawl's own class loader does not see. */
class ProviderOfContextLoaderTest {

  private static final AtomicInteger asked = new AtomicInteger();

  /** Opens {@code application:/…}, where the third node is away at first. */
  public static final class Provider implements StoreProvider {

    @Override
    public Set<String> schemes() {
      return Set.of("application");
    }

    @Override
    public LockStore open(StoreUrl url) {
      if (url.rest().equals("/third") && asked.incrementAndGet() == 1) {
        throw new StoreUnavailableException("away");
      }
      return new MemoryNode(new MemoryStore(), url.rest());
    }
  }

  @TempDir Path folder;

  @Test
  void aNodeThatWasAwayIsOpenedLaterByTheProviderThatTheCallerSaw() throws Exception {
    Path services = Files.createDirectories(folder.resolve("META-INF/services"));
    Files.writeString(services.resolve(StoreProvider.class.getName()), Provider.class.getName());
    Thread here = Thread.currentThread();
    ClassLoader before = here.getContextClassLoader();
    StoreUrl url =
        StoreUrl.parse("quorum:application:/first|application:/second|application:/third");
    try (URLClassLoader application =
        new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
      here.setContextClassLoader(application);
      try (LockStore store = Stores.open(url)) {
        assertThat(asked).hasValue(1);
        await().until(() -> asked.get() == 2);
        assertThat(store.describe()).contains("third");
      }
    } finally {
      here.setContextClassLoader(before);
    }
  }
}

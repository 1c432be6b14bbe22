package io.pawl.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClientJarsTest {

  @TempDir Path directory;
  private final ClassLoader before = Thread.currentThread().getContextClassLoader();

  @AfterEach
  void putBack() {
    Thread.currentThread().setContextClassLoader(before);
  }

  private ClassLoader use(String scheme) throws MalformedURLException {
    URL jar = directory.resolve("servers.jar").toUri().toURL();
    ClientJars.useFor(scheme, new URL[] {jar});
    return Thread.currentThread().getContextClassLoader();
  }

  /** {@code pawl run} tries ten times a second to open a store that is away. */
  @Test
  void whoOpensAStoreAgainLoadsItsClientOnce() throws MalformedURLException {
    ClassLoader clients = use("far-away");

    assertThat(clients).isNotSameAs(before);
    assertThat(use("far-away")).isSameAs(clients);
  }

  @Test
  void aStoreOnTheClassPathNeedsNoMore() throws MalformedURLException {
    assertThat(use("sqlite")).isSameAs(before);
  }
}

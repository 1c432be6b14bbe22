package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.counter.Update;
import io.pawl.memory.MemoryStore;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryUrlTest {

  @Test
  void clientsThatNameTheSameStoreShareIt() {
    try (Pawl here = Pawl.connect("memory:shared");
        Pawl there = Pawl.connect("memory:shared");
        Pawl over = Pawl.over(MemoryStore.named("shared"));
        Pawl elsewhere = Pawl.connect("memory:other")) {
      Lease lease = here.lock("x").tryAcquire().orElseThrow();
      assertThat(there.lock("x").tryAcquire()).isEmpty();
      assertThat(over.lock("x").tryAcquire()).isEmpty();
      elsewhere.lock("x").tryAcquire().orElseThrow().close();
      lease.close();
      Lease next = there.lock("x").tryAcquire().orElseThrow();
      assertThat(next.token()).isGreaterThan(lease.token());
      next.close();
      here.counter("n").update(Update.set(7));
      assertThat(there.counter("n").get()).isEqualTo(7);
      assertThat(there).hasToString("Pawl[memory:shared]");
    }
  }

  @Test
  void eachClientOfANamelessStoreHasItsOwn() {
    try (Pawl here = Pawl.connect("memory:");
        Pawl there = Pawl.connect("memory:")) {
      Lease lease = here.lock("x").tryAcquire().orElseThrow();
      there.lock("x").tryAcquire().orElseThrow().close();
      lease.close();
    }
  }

  @Test
  void aNamedStoreLastsUntilItsLastClientIsClosed() {
    Pawl first = Pawl.connect("memory:lasting");
    first.counter("n").update(Update.set(7));
    Pawl second = Pawl.connect("memory:lasting");
    first.close();
    first.close();
    try (Pawl third = Pawl.connect("memory:lasting")) {
      assertThat(third.counter("n").get()).isEqualTo(7);
    }
    second.close();
    try (Pawl anew = Pawl.connect("memory:lasting")) {
      assertThat(anew.counter("n").get()).isZero();
    }
  }

  @Test
  void p1_oneHolder_aHoldThatIsLeftToRunOutOutlivesTheLastClientOfItsStore() throws Exception {
    Pawl first = Pawl.connect("memory:left");
    Lease lease = first.lock("x").acquire();
    first.close(Duration.ZERO);
    try (Pawl second = Pawl.connect("memory:left")) {
      assertThat(second.lock("x").tryAcquire()).isEmpty();

      second.evict("x", lease.token());

      assertThat(second.lock("x").tryAcquire().orElseThrow().token()).isGreaterThan(lease.token());
    }
  }

  @Test
  void aStoreIsFoundFromAThreadWhoseContextLoaderSeesNoModule() throws Exception {
    FutureTask<Pawl> connecting = new FutureTask<>(() -> Pawl.connect("memory:"));
    Thread thread = new Thread(connecting);
    thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
    thread.start();
    connecting.get(20, TimeUnit.SECONDS).close();
  }

  @Test
  void aStoreIsFoundFromAThreadWhoseContextLoaderHasPawlOnceMore() throws Exception {
    URL classes = Pawl.class.getProtectionDomain().getCodeSource().getLocation();
    try (URLClassLoader other =
        new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader())) {
      FutureTask<Pawl> connecting = new FutureTask<>(() -> Pawl.connect("memory:"));
      Thread thread = new Thread(connecting);
      thread.setContextClassLoader(other);
      thread.start();
      connecting.get(20, TimeUnit.SECONDS).close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory://host", "memory:a b", "memory:a?x=1", "memory:\n"})
  void aNameThatLooksLikeAnAddressIsRefused(String url) {
    assertThatThrownBy(() -> Pawl.connect(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("write memory:name");
  }
}

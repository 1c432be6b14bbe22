package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GateProviderTest {

  private static final String SECRET = "canary|7c1e";

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gate:",
        "gate:redis://h",
        "gate:|",
        "gate:redis://h|nothing",
        "gate:redis://h|unknown://h",
        "gate:nothing|sqlite:/tmp/x",
        "gate:gate:redis://h|sqlite:/a|sqlite:/b",
        "gate:redis://h|redis://h",
        "gate:?settle=1s",
        "gate:?settle=1s|redis://h",
        "gate:?|redis://h",
      })
  void urlsThatCannotBeRightAreRefused(String url) {
    assertThatThrownBy(() -> Pawl.connect(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("URL");
  }

  @ParameterizedTest
  @ValueSource(strings = {"gate:memory:|memory:", "gate:?settle=1s|memory:fast|memory:true"})
  void memoryMayBeBothParts(String url) throws Exception {
    try (Pawl pawl = Pawl.connect(url)) {
      pawl.lock("lock").acquire().close();
    }
  }

  @Test
  void aGateThatIsAwayIsLeftOutAndNoPasswordIsShown() throws Exception {
    String gate = "redis://:" + SECRET + "@localhost:1?timeout=200ms";
    String url = "gate:" + gate + "|sqlite:" + folder.resolve("truth.db");
    try (GateStore store = (GateStore) new GateProvider().open(StoreUrl.parse(url));
        Pawl pawl = Pawl.over(store)) {
      assertThat(store.isGateAway()).isTrue();
      pawl.lock("lock").acquire().close();
      assertThat(store.describe() + pawl + store.diagnose() + StoreUrl.parse(url))
          .contains("truth.db", "localhost:1")
          .doesNotContain("7c1e");
      assertThat(pawl.figures().get("truth.locks.batches")).isPositive();
    }
  }

  @Test
  void passwordsStandInNoMessage() {
    for (String url :
        new String[] {
          "gate:redis://u:" + SECRET + "@h|unknown://u:" + SECRET + "@h",
          "gate:unknown://u:" + SECRET + "@h|sqlite:/nowhere/x.db",
          "gate:redis://u:" + SECRET + "@h",
          "gate:?settle=1s&redis://u:" + SECRET + "@h|sqlite:/nowhere/x.db",
          "gate:?settle=redis://u:" + SECRET + "@h|sqlite:/nowhere/x.db",
          "gate:?redis://u:" + SECRET.replace('|', ' ') + "@h",
        }) {
      assertThatThrownBy(() -> Pawl.connect(url)).hasMessageNotContaining("7c1e");
    }
  }

  /** Else what the gate is told of a counter would overwrite what others have sold meanwhile. */
  @Test
  void p7_conservation_noStoreIsItsOwnGate() {
    try (MemoryStore store = new MemoryStore()) {
      assertThatThrownBy(() -> GateStore.over(store, store))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("memory cannot be gate and truth at once; name two stores");
    }
  }

  @Test
  void optionsStandBeforeTheGate() {
    StoreUrl url =
        StoreUrl.parse(
            "gate:?gatePatience=300ms&gatePause=2s&soldOutKept=100ms&settle=1m&refusesCallersIds=true"
                + "|redis://h|sqlite:/x?y=1|redis://z");

    GateUrl parsed = GateUrl.parse(url);

    assertThat(parsed.options())
        .isEqualTo(
            new GateOptions(
                Duration.ofMillis(300),
                Duration.ofSeconds(2),
                Duration.ofMillis(100),
                Duration.ofMinutes(1),
                true));
    assertThat(parsed.gate()).hasToString("redis://h");
    assertThat(parsed.truth()).hasToString("sqlite:/x?y=1|redis://z");
    assertThat(GateUrl.parse(StoreUrl.parse("gate:?settle=500ms|redis://h|sqlite:/x")).options())
        .isEqualTo(GateOptions.defaults().settle(Duration.ofMillis(500)));
    assertThat(GateUrl.parse(StoreUrl.parse("gate:redis://h?timeout=1s|sqlite:/x")).options())
        .isEqualTo(GateOptions.defaults());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "settle=2m;settle: PT2M is not between 10 ms and 60 s",
        "gatePatience=0ms;gatePatience: PT0S is not between 1 ms and 10 s",
        "gatePause=61s;gatePause: PT1M1S is not between 10 ms and 60 s",
        "soldOutKept=2s;soldOutKept: PT2S is not between 1 ms and 1 s",
        "settle=soon;settle: 'soon' is no duration; write 500ms, 30s, 5m, 2h, 1d or PT30S",
        "settle=-1s;settle: '-1s' is no duration",
        "refusesCallersIds=yes;refusesCallersIds 'yes' is neither true nor false",
        "patience=1s;parameter 'patience' is none of [gatePatience, gatePause,",
        "settle=1s&settle=1s;parameter 'settle' has no value, or two",
        "settle;parameter 'settle' has no value, or two",
        "settle=%;has a % that encodes nothing",
      })
  void anOptionThatCannotBeRightIsNamedWithItsValueAndRange(String options, String message) {
    assertThatThrownBy(() -> Pawl.connect("gate:?" + options + "|redis://h|sqlite:/nowhere/x.db"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("store URL 'gate:?" + options)
        .hasMessageContaining(message);
  }

  @Test
  void timesThatCannotBeRightAreRefused() {
    GateOptions options = GateOptions.defaults();
    Duration tooLong = Duration.ofHours(1);
    for (Runnable change :
        new Runnable[] {
          () -> options.gatePatience(Duration.ZERO),
          () -> options.gatePatience(tooLong),
          () -> options.gatePause(Duration.ZERO),
          () -> options.gatePause(tooLong),
          () -> options.soldOutKept(Duration.ZERO),
          () -> options.soldOutKept(tooLong),
          () -> options.settle(Duration.ZERO),
          () -> options.settle(tooLong),
        }) {
      assertThatThrownBy(change::run)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("is not between");
    }
  }

  /** Opens {@code broken:} with a client library that is not whole, and counts the others. */
  public static final class Partial implements StoreProvider {

    static final AtomicInteger opened = new AtomicInteger();
    static final AtomicInteger closed = new AtomicInteger();

    @Override
    public Set<String> schemes() {
      return Set.of("broken", "counted");
    }

    @Override
    public LockStore open(StoreUrl url) {
      if (url.scheme().equals("broken")) {
        throw new NoClassDefFoundError("of a client, says the test");
      }
      opened.incrementAndGet();
      MemoryStore store = new MemoryStore();
      InvocationHandler calls =
          (proxy, method, arguments) -> {
            if (method.getName().equals("close")) {
              closed.incrementAndGet();
            }
            return method.invoke(store, arguments);
          };
      return (LockStore)
          Proxy.newProxyInstance(
              LockStore.class.getClassLoader(), new Class<?>[] {LockStore.class}, calls);
    }
  }

  @Test
  void aTruthIsClosedWhoseGateFailsToOpenWithAnError() throws Exception {
    Path services = Files.createDirectories(folder.resolve("META-INF").resolve("services"));
    Files.writeString(services.resolve(StoreProvider.class.getName()), Partial.class.getName());
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
      thread.setContextClassLoader(loader);
      assertThatThrownBy(() -> Pawl.connect("gate:broken://h|counted://h"))
          .isInstanceOf(NoClassDefFoundError.class);
    } finally {
      thread.setContextClassLoader(before);
    }
    assertThat(Partial.opened).hasValue(1);
    assertThat(Partial.closed).hasValue(1);
  }
}

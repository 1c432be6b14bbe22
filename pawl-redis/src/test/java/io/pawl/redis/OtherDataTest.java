package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.servers.RedisServer;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Operation;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Keys of ours that hold what somebody else has written. */
class OtherDataTest {

  @ParameterizedTest
  @EnumSource
  void theOthersAreListed(Flavour flavour) {
    try (RedisServer server = RedisServer.setup().flavour(flavour).start();
        RedisStore store = RedisStore.connect(server.url())) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("lock"));
      Seam.answer(store.apply(add("counter")));
      for (String kind : new String[] {"pawl:lock:", "pawl:counter:"}) {
        server.call("SET", kind + "a text", "text");
        server.call("HSET", kind + "a hash", ".", "text");
        server.call("HSET", kind + "another hash", "field", "text");
      }

      assertThat(Seam.answer(store.list(10))).extracting(LockView::name).containsExactly("lock");
      assertThat(Seam.answer(store.list("", 10)))
          .extracting(CounterView::name)
          .containsExactly("counter");
      assertThat(Seam.answer(store.list("", 1))).hasSize(1);
      assertThatThrownBy(() -> Seam.answer(store.show("a text")))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("other data");
    }
  }

  private static CounterRequest add(String counter) {
    return new CounterRequest("id", 1, new TreeMap<>(Map.of(counter, new Operation.Add(1))), true);
  }

  @ParameterizedTest
  @EnumSource
  void whoMayNotReadIsNotToldThatThereIsNothing(Flavour flavour) {
    try (RedisServer server = RedisServer.setup().flavour(flavour).start();
        RedisStore store = RedisStore.connect(server.url())) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("lock"));
      server.call("ACL", "SETUSER", "default", "-hgetall");

      assertThatThrownBy(() -> Seam.answer(store.list(10)))
          .isInstanceOf(StoreDeniedException.class);
    }
  }
}

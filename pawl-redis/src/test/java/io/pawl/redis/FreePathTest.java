package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import io.pawl.servers.RedisServer;
import io.pawl.servers.RedisServer.Flavour;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a lock costs that nobody else wants. */
class FreePathTest {

  private static final int CYCLES = 500;

  /** What the scripts call, and how this test looks. */
  private static final Set<String> INSIDE =
      Set.of("hget", "hset", "hdel", "time", "pexpireat", "info");

  @ParameterizedTest
  @EnumSource
  void aFreeCycleIsTwoCommandsAndNothingElse(Flavour flavour) throws InterruptedException {
    try (RedisServer server = RedisServer.setup().flavour(flavour).start();
        Pawl pawl = Pawl.connect(server.url())) {
      DistributedLock lock = pawl.lock("free");
      lock.acquire().close(); // the scripts are loaded
      Commands before = Commands.of(server);
      for (int i = 0; i < CYCLES; i++) {
        try (Lease lease = lock.acquire()) {
          assertThat(lease.isValid()).isTrue();
        }
      }
      Map<String, Long> ran = Commands.of(server).since(before);
      assertThat(ran).containsEntry("evalsha", 2L * CYCLES);
      ran.remove("evalsha");
      assertThat(INSIDE).containsAll(ran.keySet());
    }
  }

  @ParameterizedTest
  @EnumSource
  void aLookAtALockIsOneCommand(Flavour flavour) throws InterruptedException {
    try (RedisServer server = RedisServer.setup().flavour(flavour).start();
        Pawl pawl = Pawl.connect(server.url());
        Lease lease = pawl.lock("seen", LockOptions.defaults().renewal(false)).acquire()) {
      assertThat(pawl.inspect("seen").isHeld()).isTrue(); // the script is loaded
      Commands before = Commands.of(server);

      assertThat(pawl.inspect("seen").holders().get(0).token()).isEqualTo(lease.token());

      Map<String, Long> ran = Commands.of(server).since(before);
      assertThat(ran).containsEntry("evalsha", 1L);
      ran.keySet().removeAll(Set.of("evalsha", "time", "hgetall", "info"));
      assertThat(ran).isEmpty();
    }
  }
}

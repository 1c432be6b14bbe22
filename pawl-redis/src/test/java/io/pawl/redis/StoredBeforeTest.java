package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A hash as it was written before claims had a shortest hold. */
class StoredBeforeTest {

  private static final String HOLDER_AND_WAITER =
      """
      local holder, waiter = ARGV[1], ARGV[2]
      local client, number = string.match(waiter, '^(.+)%.(%d+)$')
      local till = ARGV[3] + 60000
      redis.call('HSET', KEYS[1],
        '.', struct.pack('<dddi4ddddddddssss', 9, ARGV[3], till + 600000, 0, 2147483648, till, 0, 1, 1,
          0, 1, 1, holder, holder, '', ''),
        'e:' .. holder, struct.pack('<c1ddddddddssss', 'h', till, 60000, 1, 0, ARGV[3], 9, 9, 0, '', '',
          'x', 'nobody') .. 'host\\t1\\tthread\\t\\t',
        'e:' .. waiter, struct.pack('<c1ddddddddssss', 'w', till, 60000, 1, 0, ARGV[3], 0, 0, 1, '', '',
          'x', 'nobody') .. 'host\\t1\\tthread\\t\\t',
        'q:1', struct.pack('<ddddss', 0, 2, till, 1, 'x', client) .. ',' .. number .. ',')
      """;

  @Test
  void holdersAndWaitersOfAnOlderVersionAreServed() {
    try (RedisServer server = RedisServer.start();
        RedisStore store = RedisStore.connect(server.url())) {
      Seam seam = new Seam(store);
      Claim holder = seam.claim("old");
      Claim waiter = seam.claim("old");
      String now = Long.toString(System.currentTimeMillis());
      String[] eval = {
        "EVAL",
        HOLDER_AND_WAITER,
        "1",
        Keys.of("old"),
        holder.id().toString(),
        waiter.id().toString(),
        now
      };
      server.call(eval);

      assertThat(seam.renew(holder)).isEqualTo(new Standing.Held(9, 9));
      assertThat(seam.renew(waiter)).isInstanceOf(Standing.Waiting.class);
      assertThat(seam.attempt(seam.claim("old").withMinHold(Duration.ofHours(1))))
          .isInstanceOf(Standing.Waiting.class);
      seam.withdraw(holder);
      assertThat(seam.renew(waiter)).isInstanceOf(Standing.Held.class);
    }
  }
}

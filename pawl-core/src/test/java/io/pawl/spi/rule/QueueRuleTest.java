package io.pawl.spi.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Claims;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class QueueRuleTest {

  private static final long NOW = 1_000;

  @Test
  void holdersAreThoseOfTheGrantRuleWhoeverComesAndGoes() {
    Random seeds = new Random(7);
    for (int i = 0; i < 2_000; i++) {
      long seed = seeds.nextLong();
      compare(new Random(seed), "seed " + seed);
    }
  }

  private static void compare(Random random, String seed) {
    Kind kind = random.nextBoolean() ? Kind.LOCK : Kind.semaphore(3);
    LockState state = new LockState("lock", kind, 0);
    Map<ClaimId, Claim> queue = new LinkedHashMap<>();
    for (int step = 0; step < 40; step++) {
      if (queue.isEmpty() || random.nextInt(5) < 3) {
        Claim claim = Claims.of(step, mode(kind, random));
        queue.put(claim.id(), claim);
        GrantRule.attempt(state, claim, NOW);
      } else {
        List<ClaimId> all = new ArrayList<>(queue.keySet());
        GrantRule.withdraw(state, queue.remove(all.get(random.nextInt(all.size()))), NOW);
      }
      assertThat(held(kind, queue.values())).as(seed).isEqualTo(held(state, queue.values()));
    }
  }

  private static Mode mode(Kind kind, Random random) {
    if (kind.isSemaphore()) {
      return new Mode.Permits(1 + random.nextInt(3), 3);
    }
    return random.nextInt(3) == 0 ? Mode.EXCLUSIVE : Mode.SHARED;
  }

  private static Set<ClaimId> held(Kind kind, Iterable<Claim> queue) {
    QueueRule rule = new QueueRule(kind);
    Set<ClaimId> held = new HashSet<>();
    for (Claim claim : queue) {
      if (rule.holdsNext(claim.mode())) {
        held.add(claim.id());
      }
    }
    return held;
  }

  private static Set<ClaimId> held(LockState state, Iterable<Claim> queue) {
    Set<ClaimId> held = new HashSet<>();
    for (Claim claim : queue) {
      if (GrantRule.renew(state, claim.id(), NOW) instanceof Standing.Held) {
        held.add(claim.id());
      }
    }
    return held;
  }
}

package io.pawl.quorum;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Takes one lock and gives it back, again and again, as the engine would. */
final class SimulatedClient {

  static final String LOCK = "contended";

  /** What all clients see: who holds, and which token was last. */
  static final class Witness {
    final List<Long> waits = new ArrayList<>();
    final List<String> wrongs = new ArrayList<>();
    private String holder = "";
    private long lastToken;

    private void granted(String client, Standing.Held held, long waited) {
      if (!holder.isEmpty()) {
        wrongs.add(client + " beside " + holder);
      }
      if (held.token() <= lastToken) {
        wrongs.add(client + " has " + held.token() + " after " + lastToken);
      }
      holder = client;
      lastToken = held.lastToken();
      waits.add(waited);
    }

    long lastToken() {
      return lastToken;
    }

    long percentile(double part) {
      List<Long> sorted = waits.stream().sorted().toList();
      return sorted.get((int) Math.min(sorted.size() - 1, sorted.size() * part));
    }
  }

  private final World world;
  private final QuorumLocks locks;
  private final Witness witness;
  private final String name;
  private final Duration lease;
  private final long holdNanos;
  private final Random random;
  private long number;
  private long since;
  private boolean held;
  private Claim claim;

  SimulatedClient(
      World world,
      List<SimulatedNode> stores,
      Witness witness,
      String name,
      Duration lease,
      long holdNanos,
      QuorumOptions options,
      long seed) {
    this.world = world;
    this.witness = witness;
    this.name = name;
    this.lease = lease;
    this.holdNanos = holdNanos;
    this.random = new Random(seed);
    this.locks = SimulatedNode.locks(world, stores, options, seed + 1);
  }

  QuorumLocks locks() {
    return locks;
  }

  void next() {
    claim =
        new Claim(
            LOCK,
            new ClaimId(name, ++number),
            Mode.EXCLUSIVE,
            lease,
            Duration.ZERO,
            true,
            64,
            0,
            false,
            new Holder("host", 1, "thread", "", ""));
    since = world.now();
    held = false;
    ask(claim);
  }

  private void ask(Claim asked) {
    if (asked != claim || held) {
      return;
    }
    locks
        .attempt(asked, standing -> hear(asked, standing))
        .whenComplete(
            (standing, error) -> {
              if (standing == null) {
                world.later(50_000_000, () -> ask(asked));
              } else {
                hear(asked, standing);
              }
            });
  }

  private void hear(Claim asked, Standing standing) {
    if (asked != claim || held) {
      return;
    }
    if (standing instanceof Standing.Held grant) {
      held = true;
      witness.granted(name, grant, world.now() - since);
      world.later(holdNanos, this::giveBack);
    } else if (standing instanceof Standing.Waiting waiting) {
      long pause = Math.min(waiting.askAgain().toNanos(), lease.toNanos() / 3);
      world.later(pause, () -> ask(asked));
    } else {
      next();
    }
  }

  private void giveBack() {
    witness.holder = "";
    locks.withdraw(claim);
    world.later(random.nextInt(100_000), this::next);
  }
}

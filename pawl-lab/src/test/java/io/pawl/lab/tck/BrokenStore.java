package io.pawl.lab.tck;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** The store in memory with one mistake, which a subclass makes; by itself it makes none. */
class BrokenStore implements LockStore {

  final MemoryStore sound;

  BrokenStore(MemoryStore sound) {
    this.sound = sound;
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    return sound.attempt(claim, bell);
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    return sound.renew(claims);
  }

  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    return sound.withdraw(claim);
  }

  @Override
  public String describe() {
    return sound.describe();
  }

  @Override
  public void close() {}
}

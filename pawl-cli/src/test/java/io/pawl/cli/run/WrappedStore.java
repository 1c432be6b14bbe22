package io.pawl.cli.run;

import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** Hands everything on but its end: one case changes a verb of it. */
class WrappedStore implements LockStore {

  private final LockStore store;

  WrappedStore(LockStore store) {
    this.store = store;
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    return store.attempt(claim, bell);
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    return store.renew(claims);
  }

  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    return store.withdraw(claim);
  }

  @Override
  public String describe() {
    return store.describe();
  }

  @Override
  public void close() {}
}

package io.pawl.tck;

import io.pawl.tck.seam.ExpiryCases;
import io.pawl.tck.seam.LoadCases;
import io.pawl.tck.seam.ModeCases;
import io.pawl.tck.seam.NameCases;
import io.pawl.tck.seam.ShortestHoldCases;
import io.pawl.tck.seam.StoreTokenCases;
import io.pawl.tck.seam.VerbCases;
import org.junit.jupiter.api.Nested;

/**
 * The obligations of every {@link io.pawl.spi.LockStore} to the engine, tested at its interface.
 */
public abstract class LockStoreContract extends StoreContract {

  @Nested
  class Verbs extends VerbCases {
    Verbs() {
      super(LockStoreContract.this.bench);
    }
  }

  @Nested
  class Expiry extends ExpiryCases {
    Expiry() {
      super(LockStoreContract.this.bench);
    }
  }

  @Nested
  class ShortestHolds extends ShortestHoldCases {
    ShortestHolds() {
      super(LockStoreContract.this.bench);
    }
  }

  @Nested
  class FencingTokens extends StoreTokenCases {
    FencingTokens() {
      super(LockStoreContract.this.bench);
    }
  }

  @Nested
  class Modes extends ModeCases {
    Modes() {
      super(LockStoreContract.this.bench);
    }
  }

  @Nested
  class Names extends NameCases {
    Names() {
      super(LockStoreContract.this.bench);
    }
  }

  @Nested
  class Load extends LoadCases {
    Load() {
      super(LockStoreContract.this.bench);
    }
  }
}

package io.pawl.tck;

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

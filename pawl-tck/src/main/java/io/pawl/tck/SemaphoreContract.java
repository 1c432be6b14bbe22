package io.pawl.tck;

import io.pawl.tck.lock.PermitLinearizabilityCases;
import io.pawl.tck.lock.SemaphoreCases;
import io.pawl.tck.seam.KindCases;
import io.pawl.tck.seam.PermitCases;
import org.junit.jupiter.api.Nested;

/**
 * The obligations of a store that has semaphores, at its interface and to users, and shows them as
 * an {@link io.pawl.spi.Inspectable}.
 */
public abstract class SemaphoreContract extends StoreContract {

  @Nested
  class Permits extends PermitCases {
    Permits() {
      super(SemaphoreContract.this.bench);
    }
  }

  @Nested
  class Kinds extends KindCases {
    Kinds() {
      super(SemaphoreContract.this.bench);
    }
  }

  @Nested
  class Semaphores extends SemaphoreCases {
    Semaphores() {
      super(SemaphoreContract.this.bench);
    }
  }

  @Nested
  class Linearizable extends PermitLinearizabilityCases {
    Linearizable() {
      super(SemaphoreContract.this.bench);
    }
  }
}

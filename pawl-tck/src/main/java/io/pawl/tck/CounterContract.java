package io.pawl.tck;

import io.pawl.tck.counter.BasketCases;
import io.pawl.tck.counter.CounterLoadCases;
import io.pawl.tck.counter.CountingCases;
import io.pawl.tck.counter.LostChangeCases;
import io.pawl.tck.counter.OperationIdCases;
import io.pawl.tck.counter.ReservationCases;
import org.junit.jupiter.api.Nested;

/**
 * The promises to a user of counters, on the service under test, and the obligations of its {@link
 * io.pawl.spi.CounterStore}. Counter names are unique to a case.
 */
public abstract class CounterContract extends StoreContract {

  /**
   * Returns how many takes one case makes over a network that loses one message in four; 6,000
   * unless overridden.
   */
  protected int takesOverALossyNetwork() {
    return 6_000;
  }

  /**
   * Fails if the stored state of {@code counter} does not add up, by a query of the service's own,
   * without Pawl. Does nothing unless overridden.
   */
  protected void assertStoredConserved(String counter) throws Exception {}

  @Nested
  class Counting extends CountingCases {
    Counting() {
      super(CounterContract.this.bench);
    }
  }

  @Nested
  class Ids extends OperationIdCases {
    Ids() {
      super(CounterContract.this.bench);
    }
  }

  @Nested
  class Reservations extends ReservationCases {
    Reservations() {
      super(CounterContract.this.bench);
    }
  }

  @Nested
  class Baskets extends BasketCases {
    Baskets() {
      super(CounterContract.this.bench);
    }
  }

  @Nested
  class LosingMessages extends LostChangeCases {
    LosingMessages() {
      super(CounterContract.this.bench);
    }
  }

  @Nested
  class Load extends CounterLoadCases {
    Load() {
      super(CounterContract.this.bench);
    }

    @Override
    protected int takesOverALossyNetwork() {
      return CounterContract.this.takesOverALossyNetwork();
    }

    @Override
    protected void assertStoredConserved(String counter) throws Exception {
      CounterContract.this.assertStoredConserved(counter);
    }
  }
}

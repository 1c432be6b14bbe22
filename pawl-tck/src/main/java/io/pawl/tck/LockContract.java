package io.pawl.tck;

import io.pawl.Pawl;
import io.pawl.tck.lock.AcquireCases;
import io.pawl.tck.lock.AsyncCases;
import io.pawl.tck.lock.BodyCases;
import io.pawl.tck.lock.CloseCases;
import io.pawl.tck.lock.EasedCases;
import io.pawl.tck.lock.ElectionCases;
import io.pawl.tck.lock.GroupCases;
import io.pawl.tck.lock.InterruptCases;
import io.pawl.tck.lock.JavaLockCases;
import io.pawl.tck.lock.LinearizabilityCases;
import io.pawl.tck.lock.LossCases;
import io.pawl.tck.lock.LostMessageCases;
import io.pawl.tck.lock.OrderCases;
import io.pawl.tck.lock.ReadWriteCases;
import io.pawl.tck.lock.StoreDownCases;
import io.pawl.tck.lock.UserCodeCases;
import org.junit.jupiter.api.Nested;

/**
 * The promises to a user of {@link Pawl}, on the service under test. A case whose name starts with
 * {@code p1} to {@code p8} tests that promise of docs/GUARANTEES.md.
 */
public abstract class LockContract extends StoreContract {

  @Nested
  class Acquiring extends AcquireCases {
    Acquiring() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class Order extends OrderCases {
    Order() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class Losing extends LossCases {
    Losing() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class UserCode extends UserCodeCases {
    UserCode() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class LosingMessages extends LostMessageCases {
    LosingMessages() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class StoreDown extends StoreDownCases {
    StoreDown() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class Closing extends CloseCases {
    Closing() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class Interrupted extends InterruptCases {
    Interrupted() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class AsJavaLock extends JavaLockCases {
    AsJavaLock() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class Together extends GroupCases {
    Together() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class Bodies extends BodyCases {
    Bodies() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class Asynchronously extends AsyncCases {
    Asynchronously() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class Eased extends EasedCases {
    Eased() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class Electing extends ElectionCases {
    Electing() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class ReadWrite extends ReadWriteCases {
    ReadWrite() {
      super(LockContract.this.bench);
    }
  }

  @Nested
  class Linearizable extends LinearizabilityCases {
    Linearizable() {
      super(LockContract.this.bench);
    }
  }
}

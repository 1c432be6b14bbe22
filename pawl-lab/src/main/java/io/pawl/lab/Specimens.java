package io.pawl.lab;

import io.pawl.lab.redis.S01SetNxDel;
import io.pawl.lab.redis.S02SetNxExpire;
import io.pawl.lab.redis.S03Timestamp;
import io.pawl.lab.redis.S04GetSet;
import io.pawl.lab.redis.S05BlindDelete;
import io.pawl.lab.redis.S06CompareAndDelete;
import io.pawl.lab.redis.S07WatchMulti;
import io.pawl.lab.redis.S08Reentrant;
import io.pawl.lab.redis.S09BlindRenewal;
import io.pawl.lab.redis.S10Redlock;
import io.pawl.lab.redis.S11Failover;
import io.pawl.lab.redis.S12StockCounter;
import io.pawl.lab.rival.S20NestedRead;
import io.pawl.lab.rival.S21Interrupted;
import io.pawl.lab.rival.S22ReentrantRead;
import io.pawl.lab.rival.S23DeadWaiter;
import io.pawl.lab.rival.S24TokenKeys;
import io.pawl.lab.rival.S25Pooler;
import io.pawl.lab.rival.S26Ghost;
import io.pawl.lab.rival.S27RepeatedUnlock;
import io.pawl.lab.rival.S28StoppedWaiter;
import io.pawl.lab.rival.S29ShedLock;
import io.pawl.lab.rival.S30SpringRegistry;
import io.pawl.lab.session.S18Herd;
import io.pawl.lab.session.S19LeaseRanOut;
import io.pawl.lab.sql.S13SelectElseInsert;
import io.pawl.lab.sql.S14CentralRow;
import io.pawl.lab.sql.S15StripedRows;
import io.pawl.lab.sql.S16UniqueRow;
import io.pawl.lab.sql.S17Version;
import io.pawl.lab.stage.Specimen;
import java.util.List;

/** All that the lab has. */
final class Specimens {

  private Specimens() {}

  static List<Specimen> all() {
    return List.of(
        new S01SetNxDel(),
        new S02SetNxExpire(),
        new S03Timestamp(),
        new S04GetSet(),
        new S05BlindDelete(),
        new S06CompareAndDelete(),
        new S07WatchMulti(),
        new S08Reentrant(),
        new S09BlindRenewal(),
        new S10Redlock(),
        new S11Failover(),
        new S12StockCounter(),
        new S13SelectElseInsert(),
        new S14CentralRow(),
        new S15StripedRows(),
        new S16UniqueRow(),
        new S17Version(),
        new S18Herd(),
        new S19LeaseRanOut(),
        new S20NestedRead(),
        new S21Interrupted(),
        new S22ReentrantRead(),
        new S23DeadWaiter(),
        new S24TokenKeys(),
        new S25Pooler(),
        new S26Ghost(),
        new S27RepeatedUnlock(),
        new S28StoppedWaiter(),
        new S29ShedLock(),
        new S30SpringRegistry());
  }

  static Specimen named(String id) {
    return all().stream()
        .filter(specimen -> specimen.id().equalsIgnoreCase(id))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no specimen '"
                        + id
                        + "'; there are "
                        + String.join(", ", all().stream().map(Specimen::id).toList())));
  }
}

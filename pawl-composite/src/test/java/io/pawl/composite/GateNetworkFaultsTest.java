package io.pawl.composite;

import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two clients, of which one alone has a bad way to Redis. */
class GateNetworkFaultsTest {

  private static final PawlOptions PATIENT = PawlOptions.defaults().patience(Duration.ofMinutes(1));

  private static Pawl client(String redisUrl) {
    String options = "gate:?gatePatience=300ms&gatePause=100ms|";
    return Pawl.connect(options + redisUrl + "?timeout=500ms|" + Servers.mySqlUrl(), PATIENT);
  }

  /** What the far client held when it lost the gate stands in the near one's way for its lease. */
  @Test
  void p1_oneHolder_andBothGetInWhileOneOfThemLosesTheGate() throws Exception {
    try (FaultProxy proxy = FaultProxy.before(Servers.redis());
        Pawl near = client(Servers.redisUrl());
        Pawl far = client(Servers.redisUrl(proxy))) {
      List<Runnable> faults =
          List.of(
              () -> proxy.blackHole(Direction.TO_SERVER),
              () -> proxy.blackHole(Direction.TO_CLIENT),
              () -> proxy.dropReplies(5, AfterDrop.RESET),
              proxy::dropPushes,
              proxy::reset);
      LockOptions strict = LockOptions.defaults().strictOrder().lease(Duration.ofSeconds(4));
      Crowd visits = Crowd.visiting("gate-network", strict, near, far, near, far);
      visits.awaitTurns(2);
      for (Runnable fault : faults) {
        fault.run();
        visits.awaitTurns(2);
        proxy.heal();
        visits.awaitTurns(2);
      }
      visits.end();
    }
  }
}

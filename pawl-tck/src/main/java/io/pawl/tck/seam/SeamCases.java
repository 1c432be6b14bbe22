package io.pawl.tck.seam;

import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.SeamClient;
import org.junit.jupiter.api.BeforeEach;

/** Cases at the seam, with two clients of the service. */
public abstract class SeamCases {

  final Bench bench;
  SeamClient here;
  SeamClient there;

  @SuppressWarnings("NullAway.Init") // the clients are opened when the subclass is ready for them
  protected SeamCases(Bench bench) {
    this.bench = bench;
  }

  @BeforeEach
  final void openTwoClients() {
    here = bench.client();
    there = bench.client();
  }
}

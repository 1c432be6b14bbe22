package io.pawl.tck;

import org.junit.jupiter.api.BeforeEach;

/** Cases at the seam, with two clients of the service. */
abstract class SeamCases {

  final Bench bench;
  SeamClient here;
  SeamClient there;

  @SuppressWarnings("NullAway.Init") // the clients are opened when the subclass is ready for them
  SeamCases(Bench bench) {
    this.bench = bench;
  }

  @BeforeEach
  final void openTwoClients() {
    here = bench.client();
    there = bench.client();
  }
}

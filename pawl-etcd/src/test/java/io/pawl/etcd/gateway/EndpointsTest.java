package io.pawl.etcd.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which member is asked, and when none is. */
class EndpointsTest {

  private static final Endpoint A = new Endpoint("a", 2379);
  private static final Endpoint B = new Endpoint("b", 2379);
  private static final Endpoint C = new Endpoint("c", 2379);

  private final IOException refused = new IOException("refused");
  private final Endpoints endpoints = new Endpoints(List.of(A, B, C));

  /** Each connection finds out for itself that its member is dead. */
  @Test
  void manyConnectionsToOneDeadMemberKeepNobodyFromTheOthers() {
    Endpoint dead = endpoints.current();
    for (int i = 0; i < 7; i++) {
      endpoints.unreachable(dead, refused);
    }

    assertThat(endpoints.pausing()).isNull();
    assertThat(endpoints.current()).isNotEqualTo(dead);
  }

  @Test
  void nobodyIsAskedForAWhileWhenEachMemberHasFailed() {
    endpoints.unreachable(A, refused);
    endpoints.unreachable(B, refused);
    endpoints.reached();
    endpoints.unreachable(C, refused);
    assertThat(endpoints.pausing()).isNull();

    endpoints.unreachable(A, refused);
    endpoints.unreachable(B, refused);

    assertThat(endpoints.pausing()).isSameAs(refused);
  }
}

package io.pawl.spring.boot;

import io.pawl.Pawl;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Up while the store answers. One round trip; takes the client's patience where it does not. */
final class PawlHealthIndicator extends AbstractHealthIndicator {

  /** A lock that nobody takes. */
  private static final String NAME = "pawl:health";

  private final Pawl pawl;

  PawlHealthIndicator(Pawl pawl) {
    super("the store of the locks does not answer");
    this.pawl = pawl;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    health.withDetail("client", pawl.toString());
    try {
      pawl.inspect(NAME);
      health.up();
    } catch (UnsupportedOperationException e) {
      health.unknown();
    }
  }
}

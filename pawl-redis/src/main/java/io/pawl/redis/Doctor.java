package io.pawl.redis;

import io.pawl.spi.Diagnosable.Finding;
import java.util.List;

/** Examines the servers. */
record Doctor(Wire wire, Servers servers, Failures failures, RedisOptions options) {
  List<Finding> examine() {
    return List.of();
  }
}

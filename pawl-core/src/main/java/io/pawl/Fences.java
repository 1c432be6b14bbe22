package io.pawl;

import io.pawl.spi.LockName;
import io.pawl.spi.Tokens;

/** What every fence checks. */
final class Fences {

  private Fences() {}

  static void check(String resource, long token) {
    LockName.check(resource);
    if (token < 1 || token > Tokens.MAX) {
      throw new IllegalArgumentException(
          "token of '" + resource + "': " + token + " is not between 1 and 2^53 - 1");
    }
  }

  static StaleTokenException stale(String resource, long token, long seen) {
    return new StaleTokenException(
        "token " + token + " for '" + resource + "' is stale: " + seen + " has been here", token);
  }
}

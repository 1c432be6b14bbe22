package io.pawl.redis;

import java.security.SecureRandom;

/** Where a store's bells ring: 25 letters and digits, never used twice. */
final class Addresses {

  private static final SecureRandom random = new SecureRandom();

  private Addresses() {}

  static String next() {
    return Long.toUnsignedString(random.nextLong(), 36)
        + Long.toUnsignedString(random.nextLong(), 36);
  }
}

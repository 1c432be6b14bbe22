package io.pawl.redisson;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class TransitionRedissonTest extends TransitionRedissonCases {

  TransitionRedissonTest(@TempDir Path directory) {
    super("sqlite:" + directory.resolve("locks"));
  }
}

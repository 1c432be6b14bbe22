package io.pawl.shedlock;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteLockProviderTest extends LockProviderCases {

  SqliteLockProviderTest(@TempDir Path directory) {
    super("sqlite:" + directory.resolve("locks"));
  }
}

package io.pawl.spring.integration;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteLockRegistryTest extends LockRegistryCases {

  SqliteLockRegistryTest(@TempDir Path directory) {
    super("sqlite:" + directory.resolve("locks"));
  }
}

package io.pawl.redisson;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteRObjectTest extends RObjectCases {

  SqliteRObjectTest(@TempDir Path directory) {
    super("sqlite:" + directory.resolve("locks"));
  }
}

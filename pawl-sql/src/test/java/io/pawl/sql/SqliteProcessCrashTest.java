package io.pawl.sql;

import io.pawl.tck.CrashContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteProcessCrashTest extends CrashContract {

  @TempDir static Path folder;

  @Override
  protected String url() {
    return "sqlite:" + folder.resolve("locks.db");
  }
}

package io.pawl.sql;

import io.pawl.Stores;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.tck.CounterContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteCounterTest extends CounterContract {

  @TempDir static Path folder;

  @Override
  protected LockStore openStore() {
    return Stores.open(StoreUrl.parse("sqlite:" + folder.resolve("locks.db")));
  }
}

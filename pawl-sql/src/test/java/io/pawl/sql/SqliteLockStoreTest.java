package io.pawl.sql;

import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.tck.LockStoreContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteLockStoreTest extends LockStoreContract {

  @TempDir static Path folder;

  @Override
  protected LockStore openStore() {
    return Stores.open(StoreUrl.parse("sqlite:" + folder.resolve("locks.db")));
  }
}

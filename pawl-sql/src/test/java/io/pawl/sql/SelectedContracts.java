package io.pawl.sql;

import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.tck.CounterContract;
import io.pawl.tck.LockStoreContract;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Nested;

/**
 * The contracts of locks and counters at the seam, where all SQL is. What the engine makes of it is
 * tested with the versions of {@link TestDatabase}.
 */
abstract class SelectedContracts {

  /** Without user and password. */
  abstract String baseUrl();

  final String url() {
    return TestDatabase.withUser(baseUrl());
  }

  final SqlStore open() {
    return (SqlStore) Stores.open(StoreUrl.parse(url()));
  }

  @Nested
  class AtTheSeam extends LockStoreContract {
    @Override
    protected LockStore openStore() {
      return open();
    }

    @Override
    protected Duration shortLease() {
      return TestDatabase.SHORT_LEASE;
    }
  }

  @Nested
  class Counters extends CounterContract {
    @Override
    protected LockStore openStore() {
      return open();
    }

    @Override
    protected Duration shortLease() {
      return TestDatabase.SHORT_LEASE;
    }

    @Override
    protected void assertStoredConserved(String counter) throws SQLException {
      try (Connection connection =
          DriverManager.getConnection(baseUrl(), TestDatabase.USER, TestDatabase.PASSWORD)) {
        Balance.assertOf(connection, counter);
      }
    }
  }
}

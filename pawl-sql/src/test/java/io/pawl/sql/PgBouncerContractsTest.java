package io.pawl.sql;

import io.pawl.servers.PgBouncer;
import io.pawl.servers.PostgresServer;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;

/** PostgreSQL behind PgBouncer in transaction mode: fewer connections than there are clients. */
class PgBouncerContractsTest extends DatabaseContracts {

  private static final int CONNECTIONS = 10;

  private static final class Bouncer {
    static final PgBouncer BOUNCER =
        PgBouncer.before((PostgresServer) TestDatabase.POSTGRES.server(), CONNECTIONS);
  }

  PgBouncerContractsTest() {
    super(TestDatabase.POSTGRES);
  }

  static SqlStore openBounced() {
    return (SqlStore) Stores.open(StoreUrl.parse(bouncedUrl()));
  }

  private static String bouncedUrl() {
    return TestDatabase.withUser(Bouncer.BOUNCER.jdbcUrl());
  }

  @Override
  protected String url() {
    return bouncedUrl();
  }

  @Override
  protected LockStore openStore() {
    return openBounced();
  }
}

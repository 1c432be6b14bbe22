package io.pawl.sql;

import com.zaxxer.hikari.HikariDataSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** A driver or a pool whose objects answer, or throw, what a test wants. */
final class Tampered {

  private Tampered() {}

  /** What a method of the driver's is made to answer. */
  @FunctionalInterface
  interface Tampering {
    Object after(String method, Object[] arguments, Object answer) throws SQLException;
  }

  static <T> T of(Class<T> type, T driver, Tampering tampering) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              Object answer;
              try {
                answer = method.invoke(driver, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
              return tampering.after(method.getName(), arguments, answer);
            }));
  }

  static HikariDataSource pool(TestDatabase database) {
    HikariDataSource pool = new HikariDataSource();
    pool.setJdbcUrl(database.baseUrl());
    pool.setUsername(TestDatabase.USER);
    pool.setPassword(TestDatabase.PASSWORD);
    return pool;
  }

  /** {@code pool}, whose connections are tampered with. */
  static DataSource of(HikariDataSource pool, Tampering ofConnections) {
    return of(
        DataSource.class,
        pool,
        (method, arguments, answer) ->
            method.equals("getConnection")
                ? of(Connection.class, (Connection) answer, ofConnections)
                : answer);
  }

  /** Of connections, whose statements are tampered with. */
  static Tampering preparing(Tampering ofStatements) {
    return (method, arguments, answer) ->
        method.equals("prepareStatement")
            ? of(PreparedStatement.class, (PreparedStatement) answer, ofStatements)
            : answer;
  }
}

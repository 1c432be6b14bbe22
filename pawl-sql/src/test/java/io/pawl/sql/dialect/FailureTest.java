package io.pawl.sql.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.sql.dialect.Dialect.Failure;
import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** What failures mean that no test can bring about on a server. */
class FailureTest {

  /** The log's index was locked by others for some seconds. */
  @Test
  void whoCouldNotBeginOnSqliteTriesAgain() {
    SqliteDialect sqlite = new SqliteDialect(Path.of("locks"));
    SQLException failure = new SQLiteException("locking protocol", SQLiteErrorCode.SQLITE_PROTOCOL);

    assertThat(sqlite.classify(failure)).isEqualTo(Failure.CONFLICT);
  }

  /** 3100 as a member leaves its group, 1180 as a commit fails. */
  @ParameterizedTest
  @ValueSource(ints = {1180, 3100})
  void aCommitThatAMySqlCouldNotCarryThroughIsTriedAgain(int code) {
    SQLException failure = new SQLException("before_commit", "HY000", code);

    assertThat(MySqlDialect.mySql(true, true).classify(failure)).isEqualTo(Failure.UNAVAILABLE);
    assertThat(MySqlDialect.mariaDb(true, true).classify(failure)).isEqualTo(Failure.UNAVAILABLE);
  }

  /** As MySQL Router says it while a group elects a primary. */
  @Test
  void aRouterThatReachesNoServerIsAskedAgain() {
    SQLException failure = new SQLException("Can't connect to remote MySQL server", "HY000", 2003);

    assertThat(MySqlDialect.mySql(true, true).classify(failure)).isEqualTo(Failure.UNAVAILABLE);
    assertThat(MySqlDialect.mariaDb(true, true).classify(failure)).isEqualTo(Failure.UNAVAILABLE);
  }
}

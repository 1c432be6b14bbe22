package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.pawl.Pawl;
import io.pawl.sql.connection.JdbcUrl;
import io.pawl.sql.connection.UrlConnections;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Drivers like to quote URLs. */
class SecretsTest {

  private static final String CANARY = "canary-7f3a";

  private static void assertSilent(String url) {
    Throwable failure = catchThrowable(() -> Pawl.connect(url).close());
    assertThat(failure).as(url).isNotNull();
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text, true));
    assertThat(text.toString()).doesNotContain(CANARY);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void noFailureTellsThePassword(TestDatabase database) {
    String base = database.baseUrl();
    String host = base.replaceFirst("//", "//someone:" + CANARY + "@");
    assertSilent(host);
    for (String unescaped : new String[] {"/", "#", "?", "@"}) {
      String secret = "someone:x" + unescaped + CANARY + "@";
      assertSilent(base.replaceFirst("//", "//" + secret));
    }
    assertSilent(base + "?user=someone&password=" + CANARY);
    assertSilent(base + "-none?user=" + TestDatabase.USER + "x&password=" + CANARY);
    assertSilent(base + "?user=someone&socketTimeout=abc&password=" + CANARY);
    for (String separator : new String[] {";", " ", ",", "#", "?"}) {
      assertSilent(base + separator + "password=" + CANARY);
      assertSilent(base + "?sslmode=require" + separator + "password=" + CANARY);
      assertSilent(base + "?user=someone" + separator + "password=" + CANARY);
      assertSilent(base + "?sslMode=VERIFY_CA" + separator + "trustStorePassword=" + CANARY);
    }
    assertSilent(base + "?user=someone&pawl.nonsense=1&password=" + CANARY);
    assertSilent(base.replaceFirst(":[0-9]+/", ":1/") + "?user=someone&password=" + CANARY);
    assertSilent(base.replaceFirst(":[0-9]+/", ":x/") + "?user=someone&password=" + CANARY);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void nothingThatPrintsItselfTellsThePassword(TestDatabase database) {
    try (SqlStore store = database.open();
        Pawl pawl = Pawl.over(store)) {
      String all = store.describe() + store + pawl + pawl.lock("x");
      assertThat(all).contains(database.baseUrl()).doesNotContain(TestDatabase.PASSWORD);
    }
  }

  @Test
  void aUrlPrintsWithoutItsProperties() {
    JdbcUrl url =
        JdbcUrl.parse(io.pawl.spi.StoreUrl.parse("jdbc:mysql://me:" + CANARY + "@db/app"));
    assertThat(url + " " + new UrlConnections(url)).doesNotContain(CANARY);
  }
}

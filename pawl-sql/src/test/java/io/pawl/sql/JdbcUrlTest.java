package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.StoreConfigurationException;
import io.pawl.spi.StoreUrl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JdbcUrlTest {

  private static JdbcUrl parse(String url) {
    return JdbcUrl.parse(StoreUrl.parse(url));
  }

  @Test
  void userAndSecretsLeaveTheUrlForTheDriversProperties() {
    JdbcUrl url =
        parse("jdbc:mysql://me:p%40ss+w@db:3306/app?useSSL=true&trustStorePassword=x%26y&a=b");
    assertThat(url.forDriver()).isEqualTo("jdbc:mysql://db:3306/app?useSSL=true&a=b");
    assertThat(url.shown()).isEqualTo("jdbc:mysql://db:3306/app");
    assertThat(url.properties())
        .containsEntry("user", "me")
        .containsEntry("password", "p@ss+w")
        .containsEntry("trustStorePassword", "x&y")
        .hasSize(3);
  }

  @Test
  void userAndPasswordMayBeParameters() {
    JdbcUrl url = parse("jdbc:postgresql://a,b/app?user=me&password=secret");
    assertThat(url.forDriver()).isEqualTo("jdbc:postgresql://a,b/app");
    assertThat(url.properties()).containsEntry("user", "me").containsEntry("password", "secret");
  }

  @Test
  void ourOwnParametersAreTakenOut() {
    JdbcUrl url = parse("jdbc:mariadb://db/app?pawl.createTables=false&x=1&pawl.listen=true");
    assertThat(url.forDriver()).isEqualTo("jdbc:mariadb://db/app?x=1");
    assertThat(url.createsTables()).isFalse();
    assertThat(url.listens()).isTrue();
    assertThat(parse("jdbc:mariadb://db/app").createsTables()).isTrue();
  }

  @Test
  void aSlipInOurOwnParametersIsNamed() {
    assertThatThrownBy(() -> parse("jdbc:mysql://db/app?pawl.createTable=false"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pawl.createTable");
    assertThatThrownBy(() -> parse("jdbc:mysql://db/app?pawl.createTables=no&password=secret"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pawl.createTables")
        .hasMessageNotContaining("secret");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:mysql://me:can/ary@db:3306/app",
        "jdbc:mysql://me:can#ary@db/app?useSSL=true",
        "jdbc:mysql://me:can?ary@db/app",
        "jdbc:mysql://me:12/canary@db/app",
        "jdbc:mysql://me:12#canary@db/app",
        "jdbc:mysql://me:12?canary@db/app",
        "jdbc:mariadb://me:12?x=canary@db/app",
        "jdbc:postgresql://me:can@ary/x@db/app",
        "jdbc:postgresql://me:canary/app",
        "jdbc:postgresql://me:canary",
        "jdbc:mysql://me:can%zzary@db/app",
        "jdbc:mysql://me:canary%@db/app",
        "jdbc:mysql://me:can%2@db/app",
        "jdbc:mysql://db/app?user=me&password=can%ary",
        "jdbc:mysql://db/app?user=me&pawl.nonsense=1&password=can/a?r@y"
      })
  void aPasswordThatIsNotEscapedIsRefusedAndNotQuoted(String url) {
    assertThatThrownBy(() -> parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .satisfies(
            e ->
                assertThat(e.getMessage() + e.getCause())
                    .contains(url.substring(0, url.indexOf("://")))
                    .doesNotContain("canary", "can", "ary", "12"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:mysql://me:can%2Fary@db:3306/app?a=b",
        "jdbc:mysql://me:can@ary@db:3306/app",
        "jdbc:mysql://me:can:ary@db:3306/app",
        "jdbc:mysql://db:3306/app?user=me@there&password=can@ary",
        "jdbc:mysql://db:3306/app?password=can/ary",
        "jdbc:mysql://(host=db,port=3306,password=canary)/app",
        "jdbc:mysql://address=(host=db)(password=canary)/app",
        "jdbc:mariadb:replication://db:3306,db2/app?password=canary"
      })
  void noUrlShowsItsPassword(String url) {
    assertThat(parse(url) + JdbcUrl.shown(url)).contains("jdbc:m").doesNotContain("can", "ary");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:mysql://db/app",
        "jdbc:mysql://db:3306",
        "jdbc:mysql://db:3306?useSSL=true",
        "jdbc:mysql:loadbalance://one:3306,two:3307/app",
        "jdbc:postgresql://[::1]:5432/app",
        "jdbc:postgresql://[::1],db:1/app",
        "jdbc:postgresql:app",
        "jdbc:mysql:///app"
      })
  void whatDriversTakeIsTaken(String url) {
    assertThat(parse(url).forDriver()).isEqualTo(url);
    assertThat(parse(url).shown()).isEqualTo(url.replaceFirst("[?].*", ""));
  }

  /** As its pool's driver tells it. */
  @Test
  void anApplicationsUrlIsShownWithoutPasswordWhateverIsInIt() {
    assertThat(JdbcUrl.shown("jdbc:mysql://db:3306/app?x=y")).isEqualTo("jdbc:mysql://db:3306/app");
    for (String password : new String[] {"canary", "can/ary", "can#ary", "can?ary", "can@a/r?y"}) {
      assertThat(JdbcUrl.shown("jdbc:mysql://me:" + password + "@db/app?x=y"))
          .doesNotContain("can", "ary")
          .contains("db/app");
    }
  }

  @Test
  void lookalikesAreRefused() {
    assertThatThrownBy(
            () -> Databases.refuseLookalikes("CockroachDB CCL v25.1.0 (x86_64-pc-linux-gnu)"))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("CockroachDB");
    Databases.refuseLookalikes("PostgreSQL 17.5 (Debian 17.5-1) on x86_64-pc-linux-gnu");
  }

  @Test
  void whatTheUrlSetsIsNotOverridden() {
    JdbcUrl url = parse("jdbc:mysql://db/app?socketTimeout=1").defaulting("socketTimeout", "2");
    assertThat(url.properties()).isEmpty();
    assertThat(url.defaulting("connectTimeout", "3").properties())
        .containsEntry("connectTimeout", "3");
  }
}

package io.pawl.sql.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
  void valuesMayHaveWhatSeparatesOthers() {
    String variables = "sessionVariables=sql_mode=ANSI,foreign_key_checks=0;unique_checks=0";
    assertThat(parse("jdbc:mysql://db/app?" + variables + "&password=a;pass=b").forDriver())
        .isEqualTo("jdbc:mysql://db/app?" + variables);
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
  void whatPawlNeedsReplacesWhatTheUrlSays() {
    for (String query :
        new String[] {"?need=no&a=b", "?a=b&NEED=no", "?need&a=b&need=maybe", "?a=b"}) {
      JdbcUrl url = parse("jdbc:mysql://db/app" + query).requiring("need", "yes");
      assertThat(url.forDriver()).isEqualTo("jdbc:mysql://db/app?a=b");
      assertThat(url.properties()).containsEntry("need", "yes");
    }
    assertThat(parse("jdbc:mysql://db/app?need=no").requiring("need", "yes").forDriver())
        .isEqualTo("jdbc:mysql://db/app");
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
        "jdbc:mysql://user:p/CANARY#s?s@host/db",
        "jdbc:mysql://user:CAN#CANARY@host/db",
        "jdbc:mariadb://user:CAN?CANARY@host/db",
        "jdbc:postgresql://user:CANARY",
        "jdbc:postgresql://user:CANARY/db",
        "jdbc:postgresql://user:%zzCANARY@host/db",
        "jdbc:postgresql://host/db?password=%zzCANARY",
        "jdbc:mysql://user:p@ss/CANARY@host/db",
      })
  void whatCannotBeRightIsRefusedWithoutThePassword(String url) {
    assertThatThrownBy(() -> parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("store URL 'jdbc:")
        .hasMessageNotContaining("CANARY")
        .hasNoCause();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:mysql://user:CANARY@host/db?x=1",
        "jdbc:mysql://user:a@CANARY@host/db",
        "jdbc:mysql://host/db?user=me@corp&password=CAN&CANARY",
        "jdbc:mysql://host/db?user=me@corp&password=CAN@CANARY",
        "jdbc:mysql://(host=host,password=CANARY)/db",
      })
  void whatIsShownHasNoPassword(String url) {
    assertThat(parse(url) + " " + parse(url).shown()).contains("host").doesNotContain("CANARY");
  }

  @Test
  void whatTheUrlSetsIsNotOverridden() {
    JdbcUrl url = parse("jdbc:mysql://db/app?SocketTimeout=1").defaulting("socketTimeout", "2");
    assertThat(url.properties()).isEmpty();
    assertThat(url.defaulting("connectTimeout", "3").properties())
        .containsEntry("connectTimeout", "3");
  }
}

package io.pawl.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StoreUrlTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://user:CANARY@host:6379/0",
        "redis://:CANARY@host",
        "redis://user:CAN/CANARY@host",
        "redis://user:a?CANARY@host",
        "redis://user:a#CANARY@host",
        "redis://user:a:CANARY@host",
        "redis://user:a@CANARY@host",
        "redis://user:CANARY\n@host",
        "redis://me@corp.com:CANARY@host",
        "redis://u:CANARY@h1:1,u:CANARY@h2:2/0",
        "redis-sentinel://:CANARY@h1,h2/0#main",
        "user:CANARY@host:6379",
        "user:CAN/CANARY@host",
        "//user:CANARY@host",
        "jdbc:mysql://host:3306/db?user=u&password=CANARY",
        "jdbc:mysql://host:3306/db?user=u&password=a@CANARY",
        "jdbc:mysql://host:3306/db?user=u&PassWord=a,CANARY&x=1",
        "jdbc:mysql://address=(host=h)(port=1)(user=u)(password=CANARY)/db",
        "jdbc:mysql://(host=h,password=CANARY,port=1)/db",
        "jdbc:postgresql://h/db?sslpassword=CANARY",
        "jdbc:postgresql://h/db?x=1#password=CANARY",
        "jdbc:sqlserver://h;user=u;password={a;CANARY};encrypt=true",
        "etcd://h?client_secret=CANARY",
        "etcd://h?authToken=CANARY",
        "etcd://h?credentials=CANARY",
        "etcd://h?api-key=CANARY",
        "jdbc:mysql://u:CANARY@h/db?password=CANARY",
        "redis://CANARY@host",
        "redis://:CANARY",
        "redis://user:CANARY",
        "redis://user:CANARY/0",
        "redis://user:1CANARY",
        "redis://user:123456CANARY",
        "redis://:CAN/ARY/CANARY@host",
        "redis://user:a?key=CANARY@host",
        "CANARY@host:6379",
        ":CANARY@host:6379",
        "redis-cluster://h1:1,user:CANARY",
        "redis://[::1]:CANARY",
        "jdbc:mysql://user:p/CANARY#s?s@host/db",
        "jdbc:mysql://user:CANARY?x@host/db?user=me@x",
        "jdbc:mysql://h/db?password=CAN&CANARY",
        "jdbc:mysql://h/db?password=CAN;CANARY",
        "jdbc:mysql://h/db?user=me@corp&password=CAN&user=CANARY",
        "jdbc:oracle:thin:user/CANARY@//h:1521/s",
        "gate:redis://u:CANARY@h|jdbc:mysql://u:CANARY@h/db",
        "gate:redis://u:CANARY|jdbc:mysql://u:CANARY",
        "gate:redis://h?sentinelPassword=CANARY|jdbc:mysql://h/db?password=CANARY",
        "gate:redis://u:CAN|CANARY@h|sqlite:/x",
        "redis:/user:CANARY@host:6379/0",
        "redis:/:CAN/CANARY@host",
        "redis:/CANARY@host/0",
        "jdbc:mysql:/user:CANARY@host/db",
        "gate:redis:/u:CANARY@h|sqlite:/x",
        "user:/CAN/CANARY:x@host",
      })
  void aPasswordIsNeverShown(String url) {
    assertThat(StoreUrl.redact(url)).doesNotContain("CANARY").contains("***");
    if (url.matches("[a-z][a-z-]*:.*")) {
      assertThat(StoreUrl.parse(url)).asString().doesNotContain("CANARY");
      assertThat(StoreUrl.parse(url).secret()).isEqualTo(url);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://localhost:6379",
        "redis://[::1]:6379,h:1/0",
        "jdbc:mysql://host:3306/db?useSSL=true&user=u",
        "sqlite:/home/me@corp/pawl/locks.db",
        "sqlite:./me@corp/locks.db",
        "zk://a:2181,b:2181/path",
        "jdbc:mysql://host:3306/db?user=me@corp",
        "jdbc:mysql://address=(host=h)(port=1)/db",
        "jdbc:postgresql:///db",
        "gate:?settle=1s|redis://h:1|sqlite:/home/me@corp/x",
      })
  void anAddressWithoutAPasswordIsShownWhole(String url) {
    assertThat(StoreUrl.parse(url)).hasToString(url);
  }

  @Test
  void bothAddressesOfAGateAreShown() {
    assertThat(StoreUrl.parse("gate:redis://:CANARY@cache:1|jdbc:mysql://u:CANARY@db:2/shop"))
        .hasToString("gate:redis://***@cache:1|jdbc:mysql://***@db:2/shop");
  }

  @Test
  void anAddressWithoutASchemeIsRefusedWithoutItsPassword() {
    assertThatThrownBy(() -> StoreUrl.parse("//user:CANARY@host"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has no scheme")
        .hasMessageNotContaining("CANARY");
  }

  @ParameterizedTest
  @CsvSource({
    "redis://h, redis, //h",
    "REDIS://H, redis, //H",
    "jdbc:MySQL://h/db, jdbc:mysql, //h/db",
    "sqlite:/a:b, sqlite, /a:b",
    "jdbc:, jdbc, ''",
  })
  void theSchemeStandsBeforeTheRest(String url, String scheme, String rest) {
    assertThat(StoreUrl.parse(url).scheme()).isEqualTo(scheme);
    assertThat(StoreUrl.parse(url).rest()).isEqualTo(rest);
  }
}

package io.pawl.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UrlPartsTest {

  private static UrlParts parts(String url) {
    return UrlParts.of(StoreUrl.parse(url));
  }

  @Test
  void everyPartIsRead() {
    UrlParts parts = parts("redis://us%65r:p@s:s%2F+w@[::1]:7000,b/3?a=x%40y&b");
    assertThat(parts.prefix()).isEqualTo("redis://");
    assertThat(parts.user()).isEqualTo("user");
    assertThat(parts.password()).isEqualTo("p@s:s/+w");
    assertThat(parts.hosts()).isEqualTo("[::1]:7000,b");
    assertThat(parts.path()).isEqualTo("/3");
    assertThat(parts.query()).isEqualTo("a=x%40y&b");
    assertThat(parts).hasToString("redis://[::1]:7000,b/3");
  }

  @Test
  void whatIsNotGivenIsEmptyOrNull() {
    assertThat(parts("redis://h").user()).isNull();
    assertThat(parts("redis://u@h").password()).isNull();
    assertThat(parts("redis://:p@h").user()).isEmpty();
    assertThat(parts("jdbc:postgresql:db?a=//x").withoutUserAndQuery())
        .isEqualTo("jdbc:postgresql:db");
    assertThat(parts("jdbc:postgresql:///db").hosts()).isEmpty();
    assertThat(parts("jdbc:mysql:replication://u:p@a:1,b:2/db?user=x@y").withoutUserAndQuery())
        .isEqualTo("jdbc:mysql:replication://a:1,b:2/db");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(host=a,port=1),(host=b,port=2)",
        "address=(host=a)(port=1),address=(host=b),c:3",
        "[(host=a,port=1),(host=b)]",
        "address=(host=::1) (port=1), (host=b)",
        "address=(host=a)(port=1), address=(host=b)",
        "[ address=(host=a), address=(host=b) ] ",
      })
  void hostsMayHaveParameters(String hosts) {
    assertThat(parts("jdbc:mysql://u:p@" + hosts + "/db").hosts()).isEqualTo(hosts);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://:CAN/ARY@host",
        "redis://:CAN?ARY@host",
        "redis://:CAN?a=ARY@host",
        "redis://:CAN#ARY@host",
        "redis://:CAN%ARY@host",
        "redis://user:CANARY",
        "redis://user:CANARY/0",
        "redis://user:CANARY?x=1",
        "redis://user:123456",
        "redis://user:1/CANARY@host",
        "redis://user:1?CANARY@host",
        "redis://h:0",
        "redis://h:65536",
        "redis://a:1,user:CANARY",
        "jdbc:mysql://user:CAN/a#s?s@host/db",
        "jdbc:mysql://user:CAN@ARY/x@host/db",
        "jdbc:mysql://root:CAN(ARY?x=y@h/db",
        "jdbc:mysql://root:12(CANARY?x=y@h/db",
        "jdbc:mysql://root:12(CAN)ARY?x=y@h/db",
        "jdbc:mysql://app(1):CANARY?x=y@h/db",
        "jdbc:mysql://ro(ot:CANARY?x=y@h/db",
        "jdbc:mysql://(host=a),root:CANARY?x=y@h/db",
        "jdbc:mysql://root(:CANARY)?x=y@h/db",
        "jdbc:mysql://root(x=1:CANARY)?x=y@h/db",
        "jdbc:mysql://(host=a,password=CAN)ARY(x=1)/db",
        "jdbc:mysql://(host=a,password=CAN)(ARY)/db",
      })
  void whatMayBeAPasswordInTheWrongPlaceIsRefusedUnseen(String url) {
    assertThatThrownBy(() -> parts(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("store URL '" + url.substring(0, url.indexOf("//") + 2))
        .hasMessageNotContaining("CAN")
        .hasMessageNotContaining("ARY")
        .hasMessageNotContaining("123456")
        .hasNoCause();
  }

  @Test
  void aParameterWithoutAValueIsToldHowItIsWritten() {
    assertThatThrownBy(() -> parts("jdbc:mysql://address=(host=a)(allowMultiQueries)/db"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("(name=value)");
  }
}

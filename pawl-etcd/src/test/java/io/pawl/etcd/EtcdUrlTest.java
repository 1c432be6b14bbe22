package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreConfigurationException;
import io.pawl.etcd.gateway.Endpoint;
import io.pawl.spi.StoreUrl;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EtcdUrlTest {

  private static EtcdUrl parse(String url) {
    return EtcdUrl.parse(StoreUrl.parse(url));
  }

  @Test
  void aUrlNamesMembersNamespaceAndUser() {
    EtcdUrl url = parse("etcd://me:p%40ss@a,b:1,[::1]:2/team/locks?timeout=300ms");

    assertThat(url.target().endpoints())
        .containsExactly(new Endpoint("a", 2379), new Endpoint("b", 1), new Endpoint("::1", 2));
    assertThat(url.namespace()).isEqualTo("team/locks");
    assertThat(url.target().user()).isEqualTo("me");
    assertThat(url.target().password()).isEqualTo("p@ss");
    assertThat(url.target().timeout()).isEqualTo(Duration.ofMillis(300));
    assertThat(url.target().tls()).isNull();
    assertThat(url).hasToString("etcd://a:2379,b:1,[::1]:2/team/locks");
    assertThat(parse("etcds://a").target().tls()).isNotNull();
    assertThat(parse("etcd://a").namespace()).isEqualTo("pawl");
  }

  /** As of what {@code openssl pkcs12} makes of a certificate alone: nothing in it is trusted. */
  @Test
  void filesWithoutACertificateToTrustAreRefused(@TempDir Path folder) throws Exception {
    Path store = folder.resolve("trust.p12");
    KeyStore empty = KeyStore.getInstance("PKCS12");
    empty.load(null, null);
    try (OutputStream file = Files.newOutputStream(store)) {
      empty.store(file, "c4n4ry".toCharArray());
    }
    Path pem = Files.writeString(folder.resolve("trust.pem"), "");

    for (String trust : List.of("trustPem=" + pem, "trustStore=" + store)) {
      assertThatThrownBy(() -> parse("etcds://a?" + trust + "&trustStorePassword=c4n4ry"))
          .isInstanceOf(StoreConfigurationException.class)
          .hasMessageContaining("no certificate to trust")
          .hasMessageNotContaining("c4n4ry");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "etcd:c4n4ry",
        "etcd://me@a",
        "etcd://me:c4n4ry@",
        "etcd://me:c4n4ry@a:70000",
        "etcd://me:c4n4ry@a/b c",
        "etcd://me:c4n4ry@a/team//x",
        "etcd://me:c4n4ry@a/team/claim",
        "etcd://me:c4n4ry@a/team/kind/x",
        "etcd://me:c4n4ry@a/team/pass",
        "etcd://me:c4n4ry@a/team/withdrawn",
        "etcd://me:c4n4ry@a/team/fence",
        "etcd://me:c4n4ry@a?timeout=0ms",
        "etcd://me:c4n4ry@a?timeout=soon",
        "etcd://me:c4n4ry@a?verify=none",
        "etcd://me:c4n4ry@a?tls=maybe",
        "etcd://me:c4n4ry@a?password=c4n4ry",
        "etcd://me:c4n4ry@a#b",
        "etcd://me:c4/n4ry@a"
      })
  void whatCannotBeIsRefusedWithoutThePassword(String url) {
    assertThatThrownBy(() -> parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("etcd")
        .satisfies(error -> assertThat(error.getMessage()).doesNotContain("n4ry"));
  }
}

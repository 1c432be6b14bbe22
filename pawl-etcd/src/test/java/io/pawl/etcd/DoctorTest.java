package io.pawl.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.pawl.etcd.gateway.Endpoint;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.Target;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Of a cluster that only says how far it has come: no real one lags when it is told to. */
class DoctorTest {

  private HttpServer ahead;
  private HttpServer behind;

  @AfterEach
  void close() {
    ahead.stop(0);
    behind.stop(0);
  }

  private static HttpServer member(String status) throws IOException {
    HttpServer http =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext(
        "/",
        exchange -> {
          boolean asked = exchange.getRequestURI().getPath().equals("/v3/maintenance/status");
          byte[] answer = (asked ? status : "{}").getBytes(UTF_8);
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    http.start();
    return http;
  }

  private static Endpoint endpoint(HttpServer http) {
    return new Endpoint("localhost", http.getAddress().getPort());
  }

  private List<Finding> findings() {
    List<Endpoint> members = List.of(endpoint(behind), endpoint(ahead));
    Target target =
        new Target("etcd://fake", members, null, true, null, null, Duration.ofSeconds(5));
    try (Gateway gateway = new Gateway(target)) {
      return new Doctor(gateway).diagnose();
    }
  }

  private List<String> warnings() {
    return findings().stream()
        .filter(finding -> finding.level() == Level.WARNING)
        .map(Finding::what)
        .filter(what -> what.contains("behind"))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"hello", "{\"leader\":\"node-3\"}"})
  void aMemberWhoseAddressIsSomethingElsesIsNamedAndTheOthersAreExamined(String answer)
      throws IOException {
    ahead = member("{\"leader\":\"1\",\"version\":\"3.5\"}");
    behind = member(answer);

    assertThat(findings())
        .anySatisfy(
            finding -> {
              assertThat(finding.level()).isEqualTo(Level.PROBLEM);
              assertThat(finding.what()).startsWith("member " + endpoint(behind));
            })
        .anySatisfy(
            finding ->
                assertThat(finding.what()).startsWith("member " + endpoint(ahead) + ": etcd"));
  }

  @Test
  void aMemberThatLagsIsNamed() throws IOException {
    ahead = member("{\"leader\":\"1\",\"raftIndex\":\"9000\",\"raftAppliedIndex\":\"9000\"}");
    behind = member("{\"leader\":\"1\",\"raftIndex\":\"9000\",\"raftAppliedIndex\":\"7999\"}");

    assertThat(warnings())
        .containsExactly("member " + endpoint(behind) + " is 1001 entries of the log behind");
  }

  @Test
  void aMemberThatIsAThousandEntriesBehindIsLeftAlone() throws IOException {
    ahead = member("{\"leader\":\"1\",\"raftIndex\":\"9000\",\"raftAppliedIndex\":\"9000\"}");
    behind = member("{\"leader\":\"1\",\"raftIndex\":\"8000\",\"raftAppliedIndex\":\"8000\"}");

    assertThat(warnings()).isEmpty();
  }
}

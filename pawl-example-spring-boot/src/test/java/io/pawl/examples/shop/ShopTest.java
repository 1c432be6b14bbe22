package io.pawl.examples.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Two instances of the shop on the same files, asked as customers ask them. */
class ShopTest {

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<ConfigurableApplicationContext> shops = new ArrayList<>();

  ShopTest(@TempDir Path data) {
    start(data);
    start(data);
  }

  private void start(Path data) {
    shops.add(
        new SpringApplicationBuilder(ShopApplication.class)
            .run(
                "--server.port=0",
                "--spring.jmx.enabled=false",
                "--spring.main.banner-mode=off",
                "--logging.level.root=WARN",
                "--shop.data=" + data,
                "--shop.report.cron=* * * * * *",
                "--shop.report.at-most-every=1h"));
  }

  @AfterEach
  void stop() {
    shops.forEach(ConfigurableApplicationContext::close);
  }

  private URI at(int shop, String path) {
    String port = shops.get(shop).getEnvironment().getProperty("local.server.port");
    return URI.create("http://localhost:" + port + path);
  }

  private HttpResponse<String> get(int shop, String path) throws IOException, InterruptedException {
    return http.send(HttpRequest.newBuilder(at(shop, path)).build(), BodyHandlers.ofString());
  }

  private CompletableFuture<HttpResponse<String>> post(int shop, String path) {
    HttpRequest request =
        HttpRequest.newBuilder(at(shop, path)).POST(BodyPublishers.noBody()).build();
    return http.sendAsync(request, BodyHandlers.ofString());
  }

  @Test
  void tenOfFortyOrdersWinAndHearTheSameFromBothInstances() throws Exception {
    List<CompletableFuture<HttpResponse<String>>> here = new ArrayList<>();
    List<CompletableFuture<HttpResponse<String>>> there = new ArrayList<>();
    for (int order = 0; order < 40; order++) {
      here.add(post(0, "/sale/order-" + order));
      there.add(post(1, "/sale/order-" + order));
    }

    int winners = 0;
    for (int order = 0; order < 40; order++) {
      String answer = here.get(order).join().body();
      assertThat(there.get(order).join().body()).isEqualTo(answer);
      winners += answer.contains("\"won\":true") ? 1 : 0;
    }
    assertThat(winners).isEqualTo(10);
    assertThat(get(0, "/sale").body()).isEqualTo("{\"left\":0}");
  }

  @Test
  void withdrawalsOfBothInstancesFollowOneAnother() {
    List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      answers.add(post(i % 2, "/accounts/1/withdrawals?amount=10"));
    }

    assertThat(answers).allSatisfy(answer -> assertThat(answer.join().statusCode()).isEqualTo(200));
    assertThat(shops.get(0).getBean(Accounts.class).balance(1)).isEqualTo(800);
  }

  @Test
  void whoWithdrawsTooMuchIsToldSo() {
    HttpResponse<String> answer = post(0, "/accounts/1/withdrawals?amount=1001").join();

    assertThat(answer.statusCode()).isEqualTo(422);
    assertThat(answer.body()).contains("account 1 has 1000");
  }

  @Test
  void oneInstanceWritesTheReport() {
    await().until(() -> reports() == 1);
    await()
        .during(Duration.ofSeconds(3))
        .atMost(Duration.ofSeconds(30))
        .until(() -> reports() == 1);
  }

  private long reports() {
    return shops
        .get(0)
        .getBean(JdbcClient.class)
        .sql("SELECT COUNT(*) FROM report")
        .query(Long.class)
        .single();
  }

  @Test
  void operatorsSeeHealthLocksAndMeters() throws Exception {
    post(0, "/accounts/1/withdrawals?amount=10").join();

    assertThat(get(0, "/actuator/health").body()).contains("\"status\":\"UP\"");
    assertThat(get(0, "/actuator/pawl").statusCode()).isEqualTo(200);
    assertThat(get(0, "/actuator/pawl/account:1").body()).contains("account:1");
    assertThat(get(0, "/actuator/metrics").body()).contains("pawl.lock.acquisitions");
  }

  @Test
  void operatorsTakeNoLockAwayUnlessTheyAreAllowedTo() throws Exception {
    assertThat(get(0, "/actuator/pawl/nobody:1").statusCode()).isEqualTo(404);
    HttpRequest eviction =
        HttpRequest.newBuilder(at(0, "/actuator/pawl/account:1?token=1")).DELETE().build();
    assertThat(http.send(eviction, BodyHandlers.ofString()).statusCode()).isEqualTo(405);
  }
}

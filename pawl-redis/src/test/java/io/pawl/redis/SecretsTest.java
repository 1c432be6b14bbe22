package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.RedisServer;
import io.pawl.spi.StoreUrl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A password is in the URL and on the wire, and nowhere that people look; short of Lettuce's TRACE,
 * which logs what it sends.
 */
class SecretsTest {

  private static final String CANARY = "canary-7c1e";

  /** Does with each URL what a program does, logging all, and prints what it sees. */
  static final class Victim {
    public static void main(String[] urls) {
      for (String url : urls) {
        try (RedisStore store = RedisStore.connect(System.getenv(url))) {
          Seam seam = new Seam(store);
          seam.take(seam.claim(url));
          seam.attempt(seam.claim(url));
          System.out.println("took " + store + " " + store.describe() + " " + store.diagnose());
        } catch (RuntimeException e) {
          e.printStackTrace();
        }
        System.out.println(StoreUrl.parse(System.getenv(url)));
      }
    }
  }

  @Test
  void noPasswordIsLoggedByUsAtTraceThrownOrShown(@TempDir Path folder)
      throws IOException, InterruptedException {
    try (RedisServer server =
        RedisServer.setup().user("app", CANARY, "~*", "&*", "+@all").password(CANARY).start()) {
      String where = "@" + server.host() + ":" + server.port();
      List<String> urls =
          List.of(
              "redis://app:" + CANARY + where,
              "redis://:" + CANARY + where,
              "redis://:wrong-" + CANARY + where,
              "rediss://:" + CANARY + where + "?timeout=500ms&trustStorePassword=" + CANARY,
              "redis-cluster://:" + CANARY + where,
              "redis-sentinel://:" + CANARY + where + "?master=m&sentinelPassword=" + CANARY,
              "redis://:" + CANARY + "@localhost:1",
              "redis://app:a/" + CANARY + where,
              "redis://app:a?" + CANARY + where,
              "redis://app:a#" + CANARY + where,
              "redis://app:a@" + CANARY + where,
              "redis://app:a%" + CANARY + where,
              "redis://app:" + CANARY,
              "redis://app:" + CANARY + "/0",
              "redis://app:" + CANARY + "@" + server.host() + ":none",
              "redis-cluster://" + server.host() + ":1,app:" + CANARY,
              "redis-sentinel://app:" + CANARY + "?master=m");
      Path log = folder.resolve("log");
      ProcessBuilder victim =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Dorg.slf4j.simpleLogger.defaultLogLevel=debug",
                  "-Dorg.slf4j.simpleLogger.log.io.pawl=trace",
                  "-Xmx256m",
                  "-cp",
                  System.getProperty(
                      "surefire.test.class.path", System.getProperty("java.class.path")),
                  Victim.class.getName())
              .redirectErrorStream(true)
              .redirectOutput(log.toFile());
      List<String> command = new ArrayList<>(victim.command());
      for (int i = 0; i < urls.size(); i++) {
        victim.environment().put("URL" + i, urls.get(i));
        command.add("URL" + i);
      }
      int code = victim.command(command).start().waitFor();

      String seen = Files.readString(log);
      assertThat(code).as(seen).isZero();
      assertThat(seen).contains("took RedisStore[redis://" + where.substring(1));
      assertThat(seen.lines().filter(line -> line.startsWith("took "))).hasSize(2);
      assertThat(seen.lines().filter(line -> line.contains(CANARY))).isEmpty();
    }
  }
}

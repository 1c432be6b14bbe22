package io.pawl.bench;

import io.pawl.servers.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScratchTest {
  @TempDir Path folder;

  @Test
  void run() throws Exception {
    RedisServer server = RedisServer.start();
    StringBuilder out = new StringBuilder();
    try (CountersRedisSuite.CounterGround ground = new CountersRedisSuite.CounterGround(server)) {
      Settings settings =
          new Settings(2, 2, 1.5, 0, System.getProperty("only", ""), List.of(), folder, "");
      List<Section> sections =
          new ContestRunner(
                  new CountersRedisSuite(),
                  settings,
                  said -> {
                    out.append(said).append('\n');
                    out.append(
                        server
                            .text("INFO", "commandstats")
                            .lines()
                            .filter(l -> l.matches(".*(evalsha|decr|hmget|hset|time):.*"))
                            .map(l -> "    " + l.replaceAll(",rejected.*", ""))
                            .collect(Collectors.joining("\n")))
                        .append('\n');
                    server.call("CONFIG", "RESETSTAT");
                  })
              .run(ground);
      for (Section s : sections) {
        for (Side side : s.sides()) {
          out.append(s.title() + " | " + side.name());
          for (Metric m : s.metrics()) out.append(" | " + m.title() + " " + Numbers.show(side.figure(m)));
          out.append('\n');
        }
      }
    }
    Files.writeString(Path.of("/tmp/rcount-bench.txt"), out);
  }
}

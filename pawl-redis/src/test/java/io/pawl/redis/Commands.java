package io.pawl.redis;

import io.pawl.servers.RedisServer;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How often a server ran each command, those inside of scripts too; failed ones do not count. */
record Commands(Map<String, Long> calls) {

  private static final Pattern LINE =
      Pattern.compile("cmdstat_([^:]+):calls=(\\d+).*failed_calls=(\\d+)");

  static Commands of(RedisServer server) {
    Map<String, Long> calls = new HashMap<>();
    Matcher lines = LINE.matcher(server.text("INFO", "commandstats"));
    while (lines.find()) {
      calls.put(lines.group(1), Long.parseLong(lines.group(2)) - Long.parseLong(lines.group(3)));
    }
    return new Commands(calls);
  }

  /** Those that were run since, by name. */
  Map<String, Long> since(Commands before) {
    Map<String, Long> more = new HashMap<>();
    calls.forEach((name, count) -> more.put(name, count - before.calls.getOrDefault(name, 0L)));
    more.values().removeIf(count -> count == 0);
    return more;
  }
}

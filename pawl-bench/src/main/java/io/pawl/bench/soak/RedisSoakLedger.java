package io.pawl.bench.soak;

import io.pawl.bench.BenchException;
import io.pawl.counter.Outcome;
import io.pawl.servers.RedisServer;
import io.pawl.servers.RespConnection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The hashes of a Redis server; counter.lua says what their fields hold. */
final class RedisSoakLedger implements SoakLedger {

  private static final int LINES_AT_ONCE = 1_000;
  private static final int FIRST_LINE = 7;
  private static final int NEXT_LINE = 8;
  private static final Map<String, Outcome.Status> STATUS =
      Map.of("a", Outcome.Status.APPLIED, "r", Outcome.Status.REFUSED, "n", Outcome.Status.NEVER);

  private final RedisServer server;

  RedisSoakLedger(RedisServer server) {
    this.server = server;
  }

  @Override
  public Row row(String counter) {
    String[] words = header(counter);
    return new Row(Long.parseLong(words[0]), Long.parseLong(words[1]));
  }

  @Override
  public void lines(String counter, Consumer<Line> to) {
    String[] words = header(counter);
    long next = Long.parseLong(words[NEXT_LINE]);
    try (RespConnection connection = server.connect()) {
      for (long line = Long.parseLong(words[FIRST_LINE]); line < next; line += LINES_AT_ONCE) {
        List<String> fields = new ArrayList<>();
        for (long number = line; number < Math.min(next, line + LINES_AT_ONCE); number++) {
          fields.add("q:" + number);
        }
        List<String> ids = new ArrayList<>();
        for (String entered : get(connection, counter, fields)) {
          if (entered != null) {
            ids.add(entered.substring(entered.indexOf(' ') + 1));
          }
        }
        List<@Nullable String> entries =
            get(connection, counter, ids.stream().map(id -> "e:" + id).toList());
        for (int i = 0; i < ids.size(); i++) {
          String entry = entries.get(i);
          if (entry != null) {
            to.accept(line(ids.get(i), entry));
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Line line(String id, String entry) {
    String[] words = entry.split(" ", 3);
    Outcome.Status status = STATUS.get(words[0]);
    if (status == null) {
      throw new BenchException("the ledger says '" + entry + "' of " + id);
    }
    return new Line(id, status.toString(), Long.parseLong(words[1]));
  }

  /** Null for each field that is not there. */
  private static List<@Nullable String> get(
      RespConnection connection, String counter, List<String> fields) {
    List<String> command = new ArrayList<>(List.of("HMGET", key(counter)));
    command.addAll(fields);
    List<@Nullable String> values = new ArrayList<>();
    if (connection.call(command.toArray(String[]::new)) instanceof List<?> reply) {
      reply.forEach(value -> values.add(value == null ? null : value.toString()));
    }
    if (values.size() != fields.size()) {
      throw new BenchException(key(counter) + " cannot be read");
    }
    return values;
  }

  private String[] header(String counter) {
    return server.text("HGET", key(counter), ".").split(" ", -1);
  }

  private static String key(String counter) {
    return "pawl:counter:" + counter;
  }
}

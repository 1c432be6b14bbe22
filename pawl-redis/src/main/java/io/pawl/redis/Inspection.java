package io.pawl.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pawl.redis.Scripts.Script;
import io.pawl.spi.Inspectable.LockView;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Looks for people at what is stored; decides nothing and changes nothing. */
record Inspection(Wire wire, Servers servers, Verbs verbs, Script show, Failures failures) {

  private static final String PAGE = "1000";
  private static final int AT_ONCE = 100;

  CompletionStage<Optional<LockView>> show(String lock) {
    return verbs
        .run(show, List.of(Keys.of(lock)), List.of())
        .thenApply(reply -> Stored.read(List.of(lock), reply).stream().findFirst());
  }

  CompletionStage<List<LockView>> list(int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit: " + limit + " is not at least 1");
    }
    return keys(Keys.LOCKS)
        .thenCompose(
            keys -> {
              List<String> names = keys.stream().map(Keys::lockOf).toList();
              return busy(names, 0, limit, new ArrayList<>());
            })
        .handle(
            (views, error) -> {
              if (error != null) {
                throw failures.of(error);
              }
              return views;
            });
  }

  /** All keys of {@code pattern}, in their order. */
  CompletableFuture<TreeSet<String>> keys(String pattern) {
    TreeSet<String> keys = new TreeSet<>();
    CompletableFuture<Void> scanned = CompletableFuture.completedFuture(null);
    for (CompletionStage<StatefulRedisConnection<String, String>> primary :
        servers.primaries(wire.connection()).values()) {
      scanned =
          scanned
              .thenCompose(nothing -> primary)
              .thenCompose(connected -> scan(connected, pattern, "0", keys));
    }
    return scanned.thenApply(nothing -> keys);
  }

  private CompletableFuture<Void> scan(
      StatefulRedisConnection<String, String> primary,
      String pattern,
      String cursor,
      TreeSet<String> keys) {
    CommandArgs<String, String> args =
        new CommandArgs<>(StringCodec.UTF8)
            .add(cursor)
            .add("MATCH")
            .add(pattern)
            .add("COUNT")
            .add(PAGE);
    return wire.send(CommandType.SCAN, args, primary)
        .thenCompose(
            page -> {
              page.stream().skip(1).map(String.class::cast).forEach(keys::add);
              String next = String.valueOf(page.get(0));
              return next.equals("0")
                  ? CompletableFuture.completedFuture(null)
                  : scan(primary, pattern, next, keys);
            });
  }

  /** Empty where its key has other data. */
  private CompletableFuture<Optional<LockView>> readable(String lock) {
    return failures.orEmptyWhereUnreadable(show(lock).toCompletableFuture());
  }

  private CompletionStage<List<LockView>> busy(
      List<String> names, int from, int limit, List<LockView> found) {
    if (from >= names.size() || found.size() >= limit) {
      return CompletableFuture.completedFuture(found.subList(0, Math.min(limit, found.size())));
    }
    int to = Math.min(from + AT_ONCE, names.size());
    List<CompletableFuture<Optional<LockView>>> asked =
        names.subList(from, to).stream().map(this::readable).toList();
    return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
        .thenCompose(
            nothing -> {
              for (CompletableFuture<Optional<LockView>> each : asked) {
                each.join()
                    .filter(view -> !view.holders().isEmpty() || !view.waiters().isEmpty())
                    .ifPresent(found::add);
              }
              return busy(names, to, limit, found);
            });
  }
}

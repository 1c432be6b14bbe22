package io.pawl.redis;

import io.pawl.error.NameInUseException;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreException;
import io.pawl.redis.Scripts.Script;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterAnswer.Conflict;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.rule.CounterRule;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Counters, each in one hash that {@code counter.lua} explains. Every question is one script and
 * one round trip, which operations that are asked for at the same time share; more only where more
 * reservations of a counter are due than one script returns to stock, and for long ledgers.
 */
final class RedisCounters {

  /** How often a question is asked again while reservations return to stock: a million of them. */
  private static final int MOST_ROUNDS = 4_000;

  private static final int LINES_AT_ONCE = 500;
  private static final int READ_AT_ONCE = 100;

  static final int NO_COUNTER = 0;
  static final int APPLIED = 1;
  static final int REFUSED = 2;
  static final int CONFLICT = 3;
  static final int CONFLICT_ELSEWHERE = 4;
  static final int TOO_OLD = 5;
  static final int AGAIN = 6;
  static final int IS_A_LOCK = 7;
  static final int TO_COME = 8;

  private final Verbs verbs;
  private final Servers servers;
  private final Scripts scripts;
  private final Failures failures;
  private final String keptMillis;
  private final long timeoutNanos;

  /** One for all counters, in a Cluster one for each slot that was used. */
  private final Map<Integer, Combiner> combiners = new ConcurrentHashMap<>();

  RedisCounters(Verbs verbs, Servers servers, Scripts scripts, RedisOptions options) {
    this.verbs = verbs;
    this.servers = servers;
    this.scripts = scripts;
    this.failures = verbs.failures();
    this.keptMillis = Long.toString(options.keepIds().toMillis());
    this.timeoutNanos = options.timeout().toNanos();
  }

  CompletableFuture<CounterAnswer> apply(CounterRequest request) {
    return request.operations().size() == 1 ? applyOne(request) : applyAll(request);
  }

  private CompletableFuture<CounterAnswer> applyOne(CounterRequest request) {
    String counter = request.operations().firstKey();
    String operation = String.valueOf(request.operations().get(counter));
    String key = Keys.ofCounter(counter);
    List<String> values = List.of(request.id(), operation, issued(request), records(request));
    return asked(
        () -> combiner(key).run(scripts.count(), 2, key, values),
        reply -> answer(request, (Long) reply.get(0), counter, reply, 1, 1));
  }

  private Combiner combiner(String key) {
    return combiners.computeIfAbsent(
        servers.group(key),
        slot ->
            new Combiner(verbs, keptMillis, timeoutNanos, System::nanoTime, (reply, rings) -> {}));
  }

  private CompletableFuture<CounterAnswer> applyAll(CounterRequest request) {
    List<String> counters = List.copyOf(request.operations().keySet());
    List<String> keys = counters.stream().map(Keys::ofCounter).toList();
    for (int i = 1; i < keys.size(); i++) {
      if (servers.group(keys.get(i)) != servers.group(keys.get(0))) {
        return CompletableFuture.failedFuture(apart(counters.get(0), counters.get(i)));
      }
    }
    List<String> values = new ArrayList<>();
    values.add(keptMillis);
    values.add(request.id());
    values.add(issued(request));
    values.add(records(request));
    request.operations().values().forEach(operation -> values.add(operation.toString()));
    return asked(
        () -> verbs.run(scripts.basket(), keys, values),
        reply -> {
          int which = ((Long) reply.get(1)).intValue();
          String about = counters.get(Math.max(0, which - 1));
          return answer(request, (Long) reply.get(0), about, reply, 2, 3);
        });
  }

  private StoreException apart(String one, String other) {
    return new StoreConfigurationException(
        "store '"
            + failures.where()
            + "': counters '"
            + one
            + "' and '"
            + other
            + "' are in different slots of the Cluster; names of a basket must share a part in"
            + " braces, such as {shop}"
            + one);
  }

  private static String issued(CounterRequest request) {
    return Long.toString(request.issuedMillis());
  }

  private static String records(CounterRequest request) {
    return request.recordsRefusal() ? "1" : "0";
  }

  /**
   * @param about the counter that the answer is about, if about one
   * @param keptFrom where in the reply it says from when on ids are kept
   * @param first where in it the entries begin
   */
  private static CounterAnswer answer(
      CounterRequest request,
      long code,
      String about,
      List<Object> reply,
      int keptFrom,
      int first) {
    switch ((int) code) {
      case APPLIED, REFUSED -> {
        TreeMap<String, LedgerEntry> entries = new TreeMap<>();
        int at = first;
        for (String counter : request.operations().keySet()) {
          entries.put(counter, entry(request, reply, at++));
        }
        return code == APPLIED
            ? new CounterAnswer.Applied(entries)
            : new CounterAnswer.Refused(entries);
      }
      case CONFLICT -> {
        return Conflict.with(about, entry(request, reply, first));
      }
      case CONFLICT_ELSEWHERE -> {
        return Conflict.ofBasket(about, entry(request, reply, first));
      }
      case TOO_OLD -> {
        return new CounterAnswer.TooOld(about, Long.parseLong((String) reply.get(keptFrom)));
      }
      case IS_A_LOCK -> throw NameInUseException.byLock(about);
      default -> throw new IllegalArgumentException("no such answer: " + code);
    }
  }

  private static LedgerEntry entry(CounterRequest request, List<Object> reply, int at) {
    return StoredCounter.entry(request.id(), (String) reply.get(at));
  }

  CompletableFuture<Optional<CounterView>> read(String counter) {
    return page(counter, 0, 0)
        .thenApply(
            reply ->
                isNone(reply)
                    ? Optional.empty()
                    : Optional.of(StoredCounter.view(counter, (String) reply.get(1))));
  }

  /** Up to {@code limit} of {@code names}, without those that are gone or cannot be read. */
  CompletableFuture<List<CounterView>> read(Stream<String> names, int limit) {
    return read(names.iterator(), limit, new ArrayList<>());
  }

  private CompletableFuture<List<CounterView>> read(
      Iterator<String> names, int limit, List<CounterView> found) {
    List<CompletableFuture<Optional<CounterView>>> asked = new ArrayList<>();
    int wanted = Math.min(READ_AT_ONCE, limit - found.size());
    while (names.hasNext() && asked.size() < wanted) {
      asked.add(failures.orEmptyWhereUnreadable(read(names.next())));
    }
    if (asked.isEmpty()) {
      return CompletableFuture.completedFuture(found);
    }
    return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
        .thenCompose(
            nothing -> {
              asked.forEach(each -> each.join().ifPresent(found::add));
              return read(names, limit, found);
            });
  }

  CompletableFuture<List<LedgerEntry>> history(String counter, int limit) {
    return lines(counter, 0, limit, new ArrayList<>());
  }

  /** Lines may be missing by the million: behind the first page each is as long as it may be. */
  private CompletableFuture<List<LedgerEntry>> lines(
      String counter, long newest, int limit, List<LedgerEntry> found) {
    int wanted = newest == 0 ? Math.min(LINES_AT_ONCE, limit) : LINES_AT_ONCE;
    return page(counter, newest, wanted)
        .thenCompose(
            reply -> {
              if (isNone(reply)) {
                return CompletableFuture.completedFuture(found);
              }
              StoredCounter.entries(reply, 3).stream()
                  .limit(limit - found.size())
                  .forEach(found::add);
              long next = (Long) reply.get(2);
              return next == 0 || found.size() >= limit
                  ? CompletableFuture.completedFuture(found)
                  : lines(counter, next, limit, found);
            });
  }

  private CompletableFuture<List<Object>> page(String counter, long newest, int limit) {
    return asked(scripts.ledger(), counter, Long.toString(newest), Integer.toString(limit));
  }

  CompletableFuture<Long> prune(String counter, long beforeMillis) {
    return prune(counter, beforeMillis, 0, 0, 0);
  }

  private CompletableFuture<Long> prune(
      String counter, long beforeMillis, long first, long stop, long pruned) {
    return asked(
            scripts.prune(),
            counter,
            Long.toString(beforeMillis),
            Long.toString(first),
            Long.toString(stop))
        .thenCompose(
            reply -> {
              if (isNone(reply)) {
                return CompletableFuture.completedFuture(pruned);
              }
              if (reply.get(0).equals((long) TO_COME)) {
                CounterRule.checkPast(counter, beforeMillis, (Long) reply.get(1));
              }
              long sum = pruned + (Long) reply.get(1);
              long next = (Long) reply.get(2);
              long end = (Long) reply.get(3);
              return next >= end
                  ? CompletableFuture.completedFuture(sum)
                  : prune(counter, beforeMillis, next, end, sum);
            });
  }

  private static boolean isNone(List<Object> reply) {
    return reply.get(0).equals((long) NO_COUNTER);
  }

  private CompletableFuture<List<Object>> asked(Script script, String counter, String... values) {
    List<String> all = new ArrayList<>(List.of(keptMillis));
    all.addAll(List.of(values));
    return asked(
        () -> verbs.run(script, List.of(Keys.ofCounter(counter)), all), Function.identity());
  }

  /** Asks until the counter is not busy with returning reservations to stock any more. */
  private <T> CompletableFuture<T> asked(
      Supplier<CompletableFuture<List<Object>>> ask, Function<List<Object>, T> reading) {
    CompletableFuture<T> told = new CompletableFuture<>();
    asked(0, ask, reading, told);
    return told;
  }

  private <T> void asked(
      int round,
      Supplier<CompletableFuture<List<Object>>> ask,
      Function<List<Object>, T> reading,
      CompletableFuture<T> told) {
    ask.get()
        .whenComplete(
            (reply, error) -> {
              if (reply == null) {
                told.completeExceptionally(failures.of(error));
              } else if (reply.isEmpty()) {
                told.completeExceptionally(
                    failures.unavailable("answered a script with nothing", null));
              } else if (!reply.get(0).equals((long) AGAIN)) {
                tell(reply, reading, told);
              } else if (round < MOST_ROUNDS) {
                asked(round + 1, ask, reading, told);
              } else {
                told.completeExceptionally(
                    failures.unavailable("is busy with reservations that are due", null));
              }
            });
  }

  private <T> void tell(
      List<Object> reply, Function<List<Object>, T> reading, CompletableFuture<T> told) {
    try {
      told.complete(reading.apply(reply));
    } catch (StoreException e) {
      told.completeExceptionally(e);
    } catch (RuntimeException e) {
      told.completeExceptionally(failures.unavailable("answered a script with nonsense", e));
    }
  }
}

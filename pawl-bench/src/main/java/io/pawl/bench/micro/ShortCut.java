package io.pawl.bench.micro;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.pawl.redis.RedisStore;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A short cut of a script, and the calls that take it. */
abstract class ShortCut {

  /** How scripts are called. */
  interface Calls {

    /** The script of this short cut. */
    void measured(String key, String... arguments);

    /** Another script, which does not count. */
    void besides(String script, String key, String... arguments);
  }

  private static final Pattern LOADED = Pattern.compile("(?m)^-- (\\S+\\.lua)\n");
  private static final Pattern NUMBER = Pattern.compile("(?m)^local (\\w+) = (-?\\d+)");
  private static final Pattern NAME = Pattern.compile("\\b[A-Z][A-Z_]++\\b");

  private static final String ADDRESS = "bench";
  private static final String LEASE = "30000";
  private static final String ATTEMPT = source("lock/attempt.lua");
  private static final String RENEW = source("lock/renew.lua");
  private static final String WITHDRAW = source("lock/withdraw.lua");
  private static final String COUNT = source("counter/count.lua");
  private static final String LOCK = "pawl:lock:bench";
  private static final String COUNTER = "pawl:counter:bench";

  private final String title;
  private final String script;
  private final String function;

  private ShortCut(String title, String script, String function) {
    this.title = title;
    this.script = script;
    this.function = function;
  }

  static List<ShortCut> all() {
    return List.of(
        new Taking(),
        new Renewing(),
        new Leaving(),
        new Joining(2),
        new Joining(64),
        new HandingOver(2),
        new HandingOver(64),
        new Adding());
  }

  String title() {
    return title;
  }

  String script() {
    return script;
  }

  /** The script whose short cut answers at once that it is not for this call. */
  String without() {
    Matcher head = Pattern.compile("local function " + function + "\\([^)]*\\)\n").matcher(script);
    if (!head.find()) {
      throw new IllegalStateException("no function " + function);
    }
    return script.substring(0, head.end())
        + "  if true then return false end\n"
        + script.substring(head.end());
  }

  void prepare(Calls calls) {}

  abstract void run(Calls calls, int times);

  private static String[] attempt(String claim) {
    return new String[] {ADDRESS, claim, "x", LEASE, "1", "1", "0", "bench", "0"};
  }

  private static String[] withdrawal(String claim) {
    return new String[] {ADDRESS, claim, "0", "0"};
  }

  private static String claim(int number) {
    return "client-" + number % 2 + "." + number;
  }

  /** As the store sends it. */
  private static String source(String file) {
    Map<String, String> numbers =
        NUMBER
            .matcher(read("numbers.lua"))
            .results()
            .collect(Collectors.toMap(number -> number.group(1), number -> number.group(2)));
    String whole =
        LOADED
            .matcher(read(file))
            .replaceAll(loaded -> Matcher.quoteReplacement(read(loaded.group(1))));
    String code = whole.replaceAll("(?m)^ *--.*\n", "").replaceAll("(?m) +-- .*$", "");
    return NAME.matcher(code).replaceAll(name -> numbers.getOrDefault(name.group(), name.group()));
  }

  private static String read(String file) {
    try (InputStream in = RedisStore.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException(file + " is not beside " + RedisStore.class);
      }
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class Taking extends ShortCut {

    private Taking() {
      super("a free lock is taken", ATTEMPT, "takesIdle");
    }

    @Override
    void run(Calls calls, int times) {
      for (int i = 0; i < times; i++) {
        calls.measured(LOCK, attempt(claim(i)));
        calls.besides(WITHDRAW, LOCK, withdrawal(claim(i)));
      }
    }
  }

  private static final class Renewing extends ShortCut {

    private Renewing() {
      super("a hold is renewed", RENEW, "renews");
    }

    @Override
    void prepare(Calls calls) {
      calls.besides(ATTEMPT, LOCK, attempt(claim(0)));
    }

    @Override
    void run(Calls calls, int times) {
      for (int i = 0; i < times; i++) {
        calls.measured(LOCK, ADDRESS, claim(0));
      }
    }
  }

  private static final class Leaving extends ShortCut {

    private Leaving() {
      super("a lock is given back for which nobody waits", WITHDRAW, "leavesIdle");
    }

    @Override
    void run(Calls calls, int times) {
      for (int i = 0; i < times; i++) {
        calls.besides(ATTEMPT, LOCK, attempt(claim(i)));
        calls.measured(LOCK, withdrawal(claim(i)));
      }
    }
  }

  private static final class Joining extends ShortCut {

    private final int waiters;

    private Joining(int waiters) {
      super("a queue of " + waiters + " is joined", ATTEMPT, "joins");
      this.waiters = waiters;
    }

    @Override
    void prepare(Calls calls) {
      for (int i = 0; i <= waiters; i++) {
        calls.besides(ATTEMPT, LOCK, attempt(claim(i)));
      }
    }

    @Override
    void run(Calls calls, int times) {
      for (int i = 0; i < times; i++) {
        String claim = claim(waiters + 1 + i);
        calls.measured(LOCK, attempt(claim));
        calls.besides(WITHDRAW, LOCK, withdrawal(claim));
      }
    }
  }

  /** Two clients in turn. */
  private static final class HandingOver extends ShortCut {

    private final int waiters;
    private int next;

    private HandingOver(int waiters) {
      super("a lock is handed over, " + waiters + " wait", WITHDRAW, "handsOver");
      this.waiters = waiters;
    }

    @Override
    void prepare(Calls calls) {
      next = 0;
      for (int i = 0; i <= waiters; i++) {
        calls.besides(ATTEMPT, LOCK, attempt(claim(i)));
      }
    }

    @Override
    void run(Calls calls, int times) {
      for (int end = next + times; next < end; next++) {
        calls.measured(LOCK, withdrawal(claim(next)));
        calls.besides(ATTEMPT, LOCK, attempt(claim(next + waiters + 1)));
      }
    }
  }

  private static final class Adding extends ShortCut {

    private static final String KEPT = "86400000";

    private int next;

    private Adding() {
      super("a counter is added to", COUNT, "addAll");
    }

    @Override
    void prepare(Calls calls) {
      next = 0;
      calls.besides(COUNT, COUNTER, KEPT, "stock", "set 1000000000", now(), "0");
    }

    @Override
    void run(Calls calls, int times) {
      for (int end = next + times; next < end; next++) {
        calls.measured(COUNTER, KEPT, "id-" + next, "add -1", now(), "0");
      }
    }

    private static String now() {
      return Long.toString(System.currentTimeMillis());
    }
  }
}

package io.pawl.tck.rig;

import io.pawl.Counter;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.concurrent.DaemonThreads;
import io.pawl.counter.OperationId;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A process that obeys lines on its standard input, one word each, and answers on its standard
 * output with lines that begin with {@link #REPLY}:
 *
 * <ul>
 *   <li>{@code acquire <lock> <lease in ms> [<shortest hold in ms>]}: {@code held <token>}
 *   <li>{@code stubborn}, as {@code acquire}, though it does not end for a close of the client; all
 *       others do
 *   <li>{@code wait}, as {@code acquire}: {@code waiting} once it stands in the queue, and later
 *       {@code held <token>}
 *   <li>{@code valid}: {@code true} or {@code false}, and how often the loss was told
 *   <li>{@code close}: {@code closed} or {@code lost}
 *   <li>{@code write <file>}: {@code written} or {@code refused}, by a {@link FencedRegister}
 *   <li>{@code loop <lock> <directory> <times>}: {@code looped}, or what went wrong
 *   <li>{@code take <counter> <threads>}: {@code taking}, and from each thread, for ever, {@code
 *       asks <id>} before a take of one and {@code taken <id>} after it
 *   <li>{@code give <counter> <amount> <id>}: {@code given} or {@code refused}
 *   <li>{@code apart <order>}: {@code apart}, and later what the order says, which runs on a thread
 *       of its own
 *   <li>{@code exit}: ends the process by {@link System#exit}
 * </ul>
 */
final class Puppet {

  static final String REPLY = "puppet: ";

  private static final Duration GRACE = Duration.ofSeconds(1);

  private final FaultyStore store;
  private final Pawl pawl;
  private final AtomicInteger lost = new AtomicInteger();
  private volatile Lease lease;

  @SuppressWarnings("NullAway.Init") // orders about the lease follow an acquire
  private Puppet(String url) {
    store = new FaultyStore(Stores.open(StoreUrl.parse(url))).patient();
    pawl = Pawl.over(store, PawlOptions.defaults().shutdownGrace(GRACE));
  }

  public static void main(String[] arguments) throws Exception {
    Puppet puppet = new Puppet(arguments[0]);
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      reply(puppet.obey(line.split(" ")));
    }
  }

  private static void reply(String text) {
    System.out.println(REPLY + text);
  }

  private String obey(String[] words) throws Exception {
    switch (words[0]) {
      case "acquire":
        return acquire(words[1], options(words));
      case "stubborn":
        return acquireStubbornly(words[1], options(words));
      case "wait":
        return stand(words[1], options(words));
      case "valid":
        boolean valid = lease.isValid();
        return valid + " " + lost.get();
      case "close":
        return close();
      case "write":
        boolean written = new FencedRegister(Path.of(words[1])).write(lease.token());
        return written ? "written" : "refused";
      case "loop":
        return loop(words[1], Path.of(words[2]), Integer.parseInt(words[3]));
      case "take":
        take(words[1], Integer.parseInt(words[2]));
        return "taking";
      case "give":
        return give(words[1], Long.parseLong(words[2]), words[3]);
      case "apart":
        apart(Arrays.copyOfRange(words, 1, words.length));
        return "apart";
      case "exit":
        System.exit(0);
        return "";
      default:
        return "no such order";
    }
  }

  private static LockOptions options(String[] words) {
    LockOptions options = LockOptions.defaults().lease(millis(words[2]));
    return words.length > 3 ? options.minHold(millis(words[3])) : options;
  }

  private static Duration millis(String text) {
    return Duration.ofMillis(Long.parseLong(text));
  }

  private String acquire(String lock, LockOptions options) throws InterruptedException {
    String reply = acquireStubbornly(lock, options);
    lease.onClosing(this::close);
    return reply;
  }

  private String acquireStubbornly(String lock, LockOptions options) throws InterruptedException {
    lease = pawl.lock(lock, options).acquire();
    lease.onLost(lost::incrementAndGet);
    return "held " + lease.token();
  }

  private String stand(String lock, LockOptions options) {
    int before = store.answers(Verb.ATTEMPT);
    DaemonThreads.named(
            "puppet-waiter",
            () -> {
              try {
                reply(acquire(lock, options));
              } catch (InterruptedException | IllegalStateException e) {
                reply(e.toString());
              }
            })
        .start();
    Bench.eventually(() -> store.answers(Verb.ATTEMPT) > before);
    return "waiting";
  }

  private String close() {
    try {
      lease.close();
      return "closed";
    } catch (LeaseLostException e) {
      return "lost";
    }
  }

  private String loop(String lock, Path directory, int times) throws Exception {
    for (int i = 0; i < times; i++) {
      try (Lease turn = pawl.lock(lock).acquire()) {
        FencedRegister.visit(turn, directory);
      } catch (IOException | IllegalStateException e) {
        return e.toString();
      }
    }
    return "looped";
  }

  private String give(String name, long amount, String id) {
    return pawl.counter(name).add(amount, OperationId.of(id)).isApplied() ? "given" : "refused";
  }

  private void apart(String[] order) {
    DaemonThreads.named(
            "puppet-apart",
            () -> {
              try {
                reply(obey(order));
              } catch (Exception e) {
                reply(e.toString());
              }
            })
        .start();
  }

  private void take(String name, int threads) {
    Counter counter = pawl.counter(name);
    for (int i = 0; i < threads; i++) {
      String prefix = "thread" + i + "-";
      DaemonThreads.named(prefix + "taker", () -> takeForEver(counter, prefix)).start();
    }
  }

  private static void takeForEver(Counter counter, String prefix) {
    for (int i = 0; ; i++) {
      String id = prefix + i;
      reply("asks " + id);
      reply((counter.tryTake(1, OperationId.of(id)).isApplied() ? "taken " : "refused ") + id);
    }
  }
}

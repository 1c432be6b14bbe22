package io.pawl.zookeeper;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreConfigurationException;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Examines the ensemble by its words of four letters, as far as it answers them, and by what the
 * client sees. What may not be asked is a finding, not a failure.
 */
final class Doctor {

  private static final int ANSWER_MILLIS = 2_000;
  private static final int LARGEST_ANSWER = 65_536;
  private static final int TRIPS = 50;
  private static final long SLOW_MICROS = 20_000;

  /** Transactions. */
  private static final long MOST_BEHIND = 1_000;

  private final Settings settings;
  private final QueuedClaims claims;
  private final List<Finding> findings = new ArrayList<>();

  /** The last transaction that each host knew when it was asked. */
  private final Map<String, Long> known = new LinkedHashMap<>();

  Doctor(Settings settings, QueuedClaims claims) {
    this.settings = settings;
    this.claims = claims;
  }

  List<Finding> examine() {
    transactions();
    rights();
    leases();
    int leaders = 0;
    int serving = 0;
    String[] hosts = settings.hosts().split(",", -1);
    for (String host : hosts) {
      String mode = server(host);
      leaders += mode.equals("leader") || mode.equals("standalone") ? 1 : 0;
      serving += mode.isEmpty() ? 0 : 1;
    }
    if (serving > 0 && leaders == 0 && serving == hosts.length) {
      warn("none of the hosts leads", "name all members of the ensemble in the URL");
    }
    lag();
    if (hosts.length % 2 == 0) {
      warn(
          hosts.length + " hosts are named", "an even number of members survives no more failures");
    }
    return List.copyOf(findings);
  }

  /** What every grant, renewal and release costs. */
  private void transactions() {
    long[] micros = new long[TRIPS];
    for (int i = 0; i < TRIPS; i++) {
      long start = System.nanoTime();
      if (!agreed()) {
        return;
      }
      micros[i] = (System.nanoTime() - start) / 1000;
    }
    Arrays.sort(micros);
    long p99 = micros[TRIPS * 99 / 100];
    String what = "a transaction takes p50 " + micros[TRIPS / 2] + " us, p99 " + p99 + " us";
    if (p99 > SLOW_MICROS) {
      warn(what, "give the transaction log (dataLogDir) a disk of its own");
    } else {
      ok(what);
    }
  }

  private boolean agreed() {
    try {
      Uninterruptibly.get(claims.base().ask().barrier(), settings.timeout().toNanos());
      return true;
    } catch (ExecutionException e) {
      problem(
          String.valueOf(claims.failures().of(e.getCause()).getMessage()), "see the servers' logs");
    } catch (TimeoutException e) {
      problem("no majority answered in time", "start more members of the ensemble");
    }
    return false;
  }

  private void rights() {
    if (settings.user() == null) {
      warn(
          "nodes are open to everybody who reaches the servers",
          "give user:password@ in the URL, before the first lock is taken");
    } else {
      ok("nodes are for user " + settings.user() + " alone");
    }
  }

  private void leases() {
    ok(
        "sessions outlast their lease by "
            + claims.sessions().spareMillis()
            + " ms, by a tick of "
            + TimeUnit.NANOSECONDS.toMillis(claims.sessions().tickNanos())
            + " ms");
  }

  /** Its mode, empty if it does not say. */
  private String server(String host) {
    Map<String, String> answers = ask(host, "srvr", ": ");
    String mode = answers.getOrDefault("Mode", "");
    if (mode.isEmpty()) {
      warn(
          host + " does not answer srvr",
          "start it, or allow it: 4lw.commands.whitelist=srvr,conf");
      return "";
    }
    String version = answers.getOrDefault("Zookeeper version", "unknown").split("-", 2)[0];
    ok(host + ": ZooKeeper " + version + ", " + mode);
    if (version.matches("3\\.[0-5]\\..*")) {
      problem(host + ": is older than 3.6", "upgrade it; Pawl is tested on 3.9");
    }
    known.put(host, zxid(answers));
    configuration(host);
    return mode;
  }

  private static long zxid(Map<String, String> answers) {
    String text = answers.getOrDefault("Zxid", "");
    return text.matches("0x[0-9a-f]{1,16}") ? Long.parseUnsignedLong(text.substring(2), 16) : 0;
  }

  /** Hosts are asked one after another: whoever seems to lag is asked once more. */
  private void lag() {
    long last = known.values().stream().mapToLong(Long::longValue).max().orElse(0);
    boolean lags = false;
    for (Map.Entry<String, Long> each : known.entrySet()) {
      String host = each.getKey();
      if (isBehind(each.getValue(), last) && isBehind(zxid(ask(host, "srvr", ": ")), last)) {
        lags = true;
        warn(
            host
                + " is behind the others: it knew "
                + Long.toHexString(each.getValue())
                + ", they "
                + Long.toHexString(last),
            "look at its disk and its network; clients of it wait for what it has not heard");
      }
    }
    if (!lags && known.size() > 1) {
      ok("no host is more than " + MOST_BEHIND + " transactions behind");
    }
  }

  /** In the same epoch, which the upper half of the number says, or in an earlier one. */
  static boolean isBehind(long zxid, long last) {
    return zxid >>> 32 != last >>> 32 ? zxid < last : last - zxid > MOST_BEHIND;
  }

  private void configuration(String host) {
    Map<String, String> answers = ask(host, "conf", "=");
    long tick = number(answers.get("tickTime"));
    if (tick <= 0) {
      warn(
          host + " does not answer conf, so its tickTime is not known",
          "give tick=<tickTime> in the URL if it is not 2s, or allow it:"
              + " 4lw.commands.whitelist=srvr,conf");
      return;
    }
    long ours = TimeUnit.NANOSECONDS.toMillis(claims.sessions().tickNanos());
    if (tick > ours) {
      problem(
          host + ": tickTime is " + tick + " ms, longer than the " + ours + " ms that Pawl assumes",
          "give tick=" + tick + "ms in the URL: sessions could end before their lease");
    }
    long spare = claims.sessions().spareMillis();
    long shortest = Math.max(100, number(answers.get("minSessionTimeout")) - spare);
    long longest = number(answers.get("maxSessionTimeout")) - spare;
    String what = host + ": leases of " + shortest + " to " + longest + " ms are possible";
    if (longest < 30_000 || shortest > 30_000) {
      warn(what, "set maxSessionTimeout to 60000, or use such leases: Pawl's default is 30 s");
    } else {
      ok(what);
    }
  }

  private static long number(@Nullable String text) {
    return text != null && text.matches("\\d{1,18}") ? Long.parseLong(text) : -1;
  }

  private Socket socket() throws IOException {
    return settings.isTls() ? settings.tls().getSocketFactory().createSocket() : new Socket();
  }

  private Map<String, String> ask(String host, String word, String separator) {
    Map<String, String> lines = new HashMap<>();
    int colon = host.lastIndexOf(':');
    try (Socket socket = socket()) {
      String name = host.substring(0, colon).replaceAll("[\\[\\]]", "");
      int port = Integer.parseInt(host.substring(colon + 1));
      socket.connect(new InetSocketAddress(name, port), ANSWER_MILLIS);
      socket.setSoTimeout(ANSWER_MILLIS);
      socket.getOutputStream().write(word.getBytes(US_ASCII));
      socket.getOutputStream().flush();
      String answer = new String(socket.getInputStream().readNBytes(LARGEST_ANSWER), UTF_8);
      for (String line : answer.split("\n", -1)) {
        int at = line.indexOf(separator);
        if (at > 0) {
          lines.put(line.substring(0, at).strip(), line.substring(at + separator.length()).strip());
        }
      }
    } catch (IOException | StoreConfigurationException silent) {
      return Map.of(); // a finding of the caller's
    }
    return lines;
  }

  private void ok(String what) {
    findings.add(new Finding(Level.OK, what, ""));
  }

  private void warn(String what, String fix) {
    findings.add(new Finding(Level.WARNING, what, fix));
  }

  private void problem(String what, String fix) {
    findings.add(new Finding(Level.PROBLEM, what, fix));
  }
}

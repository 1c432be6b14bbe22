package io.pawl.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreException;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/** Examines every primary. What an account may not ask is a finding, not a failure. */
record Doctor(Wire wire, Servers servers, Failures failures, RedisOptions options) {

  private static final int PINGS = 200;
  private static final long SLOW_MICROS = 5_000;
  private static final long CLOCK_OFF_MILLIS = 10_000;

  List<Finding> examine() {
    List<Finding> findings = new ArrayList<>();
    List<Visit> visits = new ArrayList<>();
    var primaries = servers.primaries(wire.connection());
    primaries.forEach(
        (address, connecting) -> {
          try {
            StatefulRedisConnection<String, String> node =
                Uninterruptibly.get(connecting.toCompletableFuture());
            visits.add(new Visit(address, node, findings));
          } catch (ExecutionException e) {
            findings.add(
                new Finding(
                    Level.PROBLEM,
                    address + ": cannot be reached: " + failures.of(e).getMessage(),
                    "start it, or let redis-cli --cluster failover promote its replica"));
          }
        });
    visits.forEach(Visit::run);
    if (servers.mode().equals("cluster")) {
      clusterState(primaries.size(), visits, findings);
    }
    return findings;
  }

  private static void clusterState(int primaries, List<Visit> visits, List<Finding> findings) {
    if (primaries == 0) {
      findings.add(
          new Finding(
              Level.PROBLEM, "no node serves slots", "assign slots with redis-cli --cluster fix"));
    } else if (!visits.isEmpty()) {
      visits.get(0).cluster(primaries);
    }
  }

  private final class Visit {
    private final String address;
    private final StatefulRedisConnection<String, String> node;
    private final List<Finding> findings;

    Visit(String address, StatefulRedisConnection<String, String> node, List<Finding> findings) {
      this.address = address;
      this.node = node;
      this.findings = findings;
    }

    void run() {
      roundTrip();
      clock();
      Map<String, String> info = info();
      if (!info.isEmpty()) {
        identity(info);
        persistence(info);
        memory(info);
      }
      rights();
    }

    private void roundTrip() {
      long[] micros = new long[PINGS];
      for (int i = 0; i < PINGS; i++) {
        long start = System.nanoTime();
        if (ask("ping", CommandType.PING).isEmpty()) {
          return;
        }
        micros[i] = (System.nanoTime() - start) / 1000;
      }
      Arrays.sort(micros);
      String what =
          "round trip p50 " + micros[PINGS / 2] + " us, p99 " + micros[PINGS * 99 / 100] + " us";
      if (micros[PINGS * 99 / 100] > SLOW_MICROS) {
        warn(what, "look for slow commands (SLOWLOG GET), a busy machine, or a far network");
      } else {
        ok(what);
      }
    }

    private void clock() {
      long before = System.currentTimeMillis();
      List<Object> time = ask("time", CommandType.TIME);
      long after = System.currentTimeMillis();
      if (time.size() < 2) {
        return;
      }
      long theirs =
          Long.parseLong(String.valueOf(time.get(0))) * 1000
              + Long.parseLong(String.valueOf(time.get(1))) / 1000;
      long offset = theirs - (before + after) / 2;
      String what = "clock is " + offset + " ms from ours";
      if (Math.abs(offset) > CLOCK_OFF_MILLIS) {
        warn(what, "run NTP on both; after a failover tokens follow the new primary's clock");
      } else {
        ok(what);
      }
    }

    private void identity(Map<String, String> info) {
      String valkey = info.get("valkey_version");
      String version = valkey != null ? "Valkey " + valkey : "Redis " + info.get("redis_version");
      String replicas = info.getOrDefault("connected_slaves", "0");
      ok(version + ", role " + info.get("role") + ", " + replicas + " replicas");
      int connected = Integer.parseInt(replicas);
      if (connected < options.waitReplicas()) {
        problem(
            "waitReplicas="
                + options.waitReplicas()
                + " but "
                + replicas
                + " replicas are connected",
            "start more replicas, or lower waitReplicas; no lock can be taken until then");
      }
      if (connected > 0 && options.waitReplicas() == 0) {
        warn(
            "a failover may lose the latest grants: replication is asynchronous",
            "use fencing tokens, and waitReplicas=1 to make it rarer");
      }
    }

    private void persistence(Map<String, String> info) {
      if (info.getOrDefault("aof_enabled", "0").equals("1")) {
        ok("appendonly file is on");
      } else {
        warn(
            "no appendonly file: a crash forgets who holds what (tokens rise all the same)",
            "CONFIG SET appendonly yes, with appendfsync always or everysec; use fencing tokens");
      }
    }

    private void memory(Map<String, String> info) {
      String policy = info.getOrDefault("maxmemory_policy", "noeviction");
      boolean bounded = !info.getOrDefault("maxmemory", "0").equals("0");
      if (bounded && !policy.equals("noeviction")) {
        problem(
            "maxmemory-policy " + policy + " may evict locks that are held",
            "CONFIG SET maxmemory-policy noeviction, or a server for locks alone");
      } else {
        ok("maxmemory-policy " + policy + (bounded ? "" : ", no maxmemory"));
      }
    }

    /** By trying: ACL rules are more than their names say. */
    private void rights() {
      Map<String, CommandArgs<String, String>> dry = new HashMap<>();
      dry.put("SUBSCRIBE to pawl:bell:*", dryRun("SUBSCRIBE", "pawl:bell:x"));
      dry.put("PUBLISH to pawl:bell:*", dryRun("PUBLISH", "pawl:bell:x", ""));
      dry.put("HSET on pawl:lock:*", dryRun("HSET", Keys.of("x"), "a", "b"));
      dry.put("PEXPIREAT on pawl:lock:*", dryRun("PEXPIREAT", Keys.of("x"), "1"));
      if (servers.mode().equals("cluster")) {
        dry.put("ASKING, as it has to while slots move", dryRun("ASKING"));
      }
      List<Object> who = ask("acl whoami", CommandType.ACL, "WHOAMI");
      if (who.isEmpty()) {
        return;
      }
      String user = String.valueOf(who.get(0));
      for (Map.Entry<String, CommandArgs<String, String>> each : dry.entrySet()) {
        CommandArgs<String, String> args =
            new CommandArgs<>(StringCodec.UTF8).add("DRYRUN").add(user).addAll(each.getValue());
        List<Object> answer = quietly(CommandType.ACL, args);
        if (!answer.isEmpty() && !String.valueOf(answer.get(0)).equals("OK")) {
          problem(
              "user " + user + " may not " + each.getKey(),
              "ACL SETUSER " + user + " with the rules in docs/REDIS.md");
        }
      }
    }

    private CommandArgs<String, String> dryRun(String... words) {
      CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8);
      for (String word : words) {
        args.add(word);
      }
      return args;
    }

    void cluster(int primaries) {
      List<Object> reply = ask("cluster info", CommandType.CLUSTER, "INFO");
      if (reply.isEmpty()) {
        return;
      }
      Map<String, String> info = lines(String.valueOf(reply.get(0)));
      String what =
          "Cluster is "
              + info.get("cluster_state")
              + ", "
              + info.get("cluster_slots_ok")
              + " of 16384 slots on "
              + primaries
              + " primaries";
      if ("ok".equals(info.get("cluster_state"))) {
        ok(what);
      } else {
        problem(what, "redis-cli --cluster check, then --cluster fix");
      }
    }

    private Map<String, String> info() {
      List<Object> reply = ask("info", CommandType.INFO);
      return reply.isEmpty() ? Map.of() : lines(String.valueOf(reply.get(0)));
    }

    private Map<String, String> lines(String text) {
      Map<String, String> lines = new HashMap<>();
      for (String line : text.split("\r?\n", -1)) {
        int colon = line.indexOf(':');
        if (colon > 0) {
          lines.put(line.substring(0, colon), line.substring(colon + 1).strip());
        }
      }
      return lines;
    }

    private List<Object> ask(String name, CommandType type, String... words) {
      try {
        return Uninterruptibly.get(wire.send(type, dryRun(words), node));
      } catch (ExecutionException e) {
        StoreException failure = failures.of(e);
        warn(
            name + " could not be asked: " + failure.getMessage(), "grant it, or ask its operator");
        return List.of();
      }
    }

    private List<Object> quietly(CommandType type, CommandArgs<String, String> args) {
      try {
        return Uninterruptibly.get(wire.send(type, args, node));
      } catch (ExecutionException notKnownBeforeRedis7) {
        return List.of();
      }
    }

    private void ok(String what) {
      findings.add(new Finding(Level.OK, address + ": " + what, ""));
    }

    private void warn(String what, String fix) {
      findings.add(new Finding(Level.WARNING, address + ": " + what, fix));
    }

    private void problem(String what, String fix) {
      findings.add(new Finding(Level.PROBLEM, address + ": " + what, fix));
    }
  }
}

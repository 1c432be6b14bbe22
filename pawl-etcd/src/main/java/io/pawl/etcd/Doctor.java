package io.pawl.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreException;
import io.pawl.etcd.gateway.Endpoint;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.Json;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Examines a cluster. Blocks. */
final class Doctor {

  private static final Pattern QUOTA =
      Pattern.compile("(?m)^etcd_server_quota_backend_bytes ([0-9.e+]+)$");

  private static final List<String> NUMBERS =
      List.of("leader", "dbSizeInUse", "dbSize", "raftAppliedIndex", "raftIndex");

  private static final double NEARLY_FULL = 0.8;

  /** Entries of the log. With 5,000 that are not applied etcd refuses requests. */
  private static final long MOST_BEHIND = 1_000;

  private final Gateway gateway;
  private final List<Finding> findings = new ArrayList<>();

  /** How far each member had applied the log when it was asked. */
  private final Map<Endpoint, Long> applied = new LinkedHashMap<>();

  /** The last entry of the log that any of them knew. */
  private long lastEntry;

  /** Of the member that was asked first. */
  private String cluster = "";

  Doctor(Gateway gateway) {
    this.gateway = gateway;
  }

  List<Finding> diagnose() {
    List<Endpoint> endpoints = gateway.target().endpoints();
    int reached = 0;
    for (Endpoint endpoint : endpoints) {
      reached += member(endpoint) ? 1 : 0;
    }
    if (reached == 0) {
      return findings;
    }
    ask("lag", this::lag);
    ask("members", this::members);
    ask("alarms", this::alarms);
    ask("authentication", this::authentication);
    ask("leases", this::leases);
    return findings;
  }

  private interface Check {
    void run();
  }

  private void ask(String what, Check check) {
    try {
      check.run();
    } catch (RuntimeException e) {
      problem(what + ": " + SharedLease.asUnchecked(e).getMessage(), "see the message");
    }
  }

  private void ok(String what) {
    findings.add(new Finding(Level.OK, what, ""));
  }

  private void warning(String what, String fix) {
    findings.add(new Finding(Level.WARNING, what, fix));
  }

  private void problem(String what, String fix) {
    findings.add(new Finding(Level.PROBLEM, what, fix));
  }

  private boolean member(Endpoint endpoint) {
    Map<String, Object> status;
    try {
      status = status(endpoint);
    } catch (StoreException e) {
      problem(
          "member " + endpoint + ": " + e.getMessage(),
          "start it, or take it out of the URL if it left the cluster");
      return false;
    }
    String version = Json.text(status, "version");
    boolean leads =
        Json.text(status, "leader").equals(Json.text(Json.object(status, "header"), "member_id"));
    ok("member " + endpoint + ": etcd " + version + (leads ? ", the leader" : ""));
    String of = Json.text(Json.object(status, "header"), "cluster_id");
    if (cluster.isEmpty()) {
      cluster = of;
    } else if (!cluster.equals(of)) {
      problem(
          "member " + endpoint + " belongs to the cluster " + of + ", others to " + cluster,
          "name members of one cluster in the URL");
    }
    if (Json.number(status, "leader") == 0) {
      problem("member " + endpoint + " knows no leader", "start a majority of the members");
    }
    size(endpoint, Json.number(status, "dbSizeInUse"), Json.number(status, "dbSize"));
    applied.put(endpoint, Json.number(status, "raftAppliedIndex"));
    lastEntry = Math.max(lastEntry, Json.number(status, "raftIndex"));
    return true;
  }

  private Map<String, Object> status(Endpoint endpoint) {
    byte[] answer = gateway.ask(endpoint, "POST", "/v3/maintenance/status", "{}");
    try {
      Map<String, Object> status = Json.object(answer);
      NUMBERS.forEach(name -> Json.number(status, name));
      return status;
    } catch (IllegalArgumentException e) {
      throw new StoreException("what answered is not etcd: " + e.getMessage(), e);
    }
  }

  /** Members are asked one after another: whoever seems to lag is asked once more. */
  private void lag() {
    boolean lags = false;
    for (Map.Entry<Endpoint, Long> each : applied.entrySet()) {
      long behind = lastEntry - each.getValue();
      if (behind > MOST_BEHIND) {
        behind = lastEntry - Json.number(status(each.getKey()), "raftAppliedIndex");
      }
      if (behind > MOST_BEHIND) {
        lags = true;
        warning(
            "member " + each.getKey() + " is " + behind + " entries of the log behind",
            "look at its disk and its network; clients of it wait for what it has not applied");
      }
    }
    if (!lags && applied.size() > 1) {
      ok("no member is more than " + MOST_BEHIND + " entries of the log behind");
    }
  }

  private void size(Endpoint endpoint, long used, long allocated) {
    OptionalLong quota = quota(endpoint);
    String size = megabytes(used) + " of " + megabytes(allocated) + " allocated are in use";
    if (quota.isEmpty()) {
      ok("member " + endpoint + ": " + size);
    } else if (allocated > NEARLY_FULL * quota.getAsLong()) {
      warning(
          "member " + endpoint + ": " + size + ", the quota is " + megabytes(quota.getAsLong()),
          "compact and defragment, or raise --quota-backend-bytes, before etcd refuses writes");
    } else {
      ok("member " + endpoint + ": " + size + ", the quota is " + megabytes(quota.getAsLong()));
    }
  }

  private static String megabytes(long bytes) {
    return (bytes + 524_288) / 1_048_576 + " MB";
  }

  /** From the metrics, which may be served elsewhere. */
  private OptionalLong quota(Endpoint endpoint) {
    try {
      Matcher found =
          QUOTA.matcher(new String(gateway.ask(endpoint, "GET", "/metrics", ""), UTF_8));
      return found.find()
          ? OptionalLong.of((long) Double.parseDouble(found.group(1)))
          : OptionalLong.empty();
    } catch (StoreException e) {
      return OptionalLong.empty();
    }
  }

  private void members() {
    Map<String, Object> reply = Uninterruptibly.join(gateway.call("/v3/cluster/member/list", "{}"));
    int voters = 0;
    for (Map<String, Object> each : Json.objects(reply, "members")) {
      voters += Json.flag(each, "isLearner") ? 0 : 1;
    }
    int named = gateway.target().endpoints().size();
    if (voters < 3) {
      warning(
          voters + " voting member(s): the locks stand still when one fails",
          "run three or five members");
    } else {
      ok(voters + " voting members, of which " + (voters / 2 + 1) + " have to be up");
    }
    if (named < Math.min(voters, 3)) {
      warning(
          "the URL names " + named + " of " + voters + " members",
          "name several, so that the client can go on when one fails");
    }
  }

  private void alarms() {
    Map<String, Object> reply =
        Uninterruptibly.join(gateway.call("/v3/maintenance/alarm", "{\"action\":\"GET\"}"));
    List<Map<String, Object>> alarms = Json.objects(reply, "alarms");
    for (Map<String, Object> each : alarms) {
      String alarm = Json.text(each, "alarm");
      problem(
          "alarm " + alarm + " of member " + Long.toHexString(Json.number(each, "memberID")),
          alarm.equals("NOSPACE")
              ? "compact and defragment, then etcdctl alarm disarm"
              : "replace the member's data from another member");
    }
    if (alarms.isEmpty()) {
      ok("no alarm");
    }
  }

  private void authentication() {
    if (gateway.ignoresUser()) {
      warning(
          "etcd serves clients without a password, though a user is given",
          "turn authentication on (etcdctl auth enable)");
    } else if (gateway.target().user() != null) {
      ok("the client has authenticated itself");
    } else {
      ok("etcd serves clients without a password");
    }
  }

  private void leases() {
    SharedLease.Kept least = Uninterruptibly.join(SharedLease.grant(gateway, 1));
    Uninterruptibly.join(gateway.call("/v3/lease/revoke", "{\"ID\":\"" + least.id() + "\"}"));
    if (least.seconds() > 5) {
      warning(
          "no lease of etcd's is shorter than "
              + least.seconds()
              + " s: a holder that died delays"
              + " others for so long at least",
          "lower --election-timeout if the members are close to each other");
    } else {
      ok("the shortest lease of etcd's is " + least.seconds() + " s");
    }
  }
}

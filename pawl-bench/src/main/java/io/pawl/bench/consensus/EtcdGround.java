package io.pawl.bench.consensus;

import io.pawl.bench.BenchException;
import io.pawl.servers.EtcdCluster;
import io.pawl.servers.EtcdServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** etcd as it comes, but for its quota, which long measurements would use up. */
final class EtcdGround implements ConsensusGround {

  private static final String QUOTA = "--quota-backend-bytes=8589934592";
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  /** Single messages too: of streams of keep-alives and watches each is a request. */
  private static final Pattern RECEIVED =
      Pattern.compile(
          "(?m)^grpc_server_msg_received_total\\{[^}]*grpc_service=\"(?:etcdserverpb\\.(?:KV|Lease"
              + "|Watch)|v3lockpb\\.Lock)\"[^}]*\\} ([0-9.e+]+)$");

  private static final Pattern REVISION = Pattern.compile("\"revision\":\"(\\d+)\"");
  private static final Pattern COUNT = Pattern.compile("\"count\":\"(\\d+)\"");

  private final @Nullable EtcdCluster cluster;
  private final List<EtcdServer> members;
  private final HttpClient http = HttpClient.newHttpClient();
  private @Nullable EtcdServer dead;
  private int namespaces;
  private String namespace = "";

  EtcdGround(boolean three) {
    if (three) {
      EtcdCluster started = EtcdCluster.start(QUOTA);
      cluster = started;
      members = started.members();
    } else {
      cluster = null;
      members = List.of(EtcdServer.start(QUOTA));
    }
  }

  /** Without the history of what was measured before. */
  @Override
  public String fresh() {
    namespace = "bench-" + namespaces++;
    EtcdServer member = members.get(0);
    Matcher revision = REVISION.matcher(member.post("/v3/kv/range", "{\"key\":\"eA==\"}"));
    if (revision.find()) {
      member.post("/v3/kv/compaction", "{\"revision\":\"" + revision.group(1) + "\"}");
    }
    List<String> hosts = members.stream().map(each -> each.host() + ":" + each.port()).toList();
    return "etcd://"
        + String.join(",", hosts)
        + "/"
        + namespace
        + "?timeout=30s"; // for 1,000 at once
  }

  @Override
  public OptionalLong operations() {
    return OptionalLong.of(requests());
  }

  @Override
  public long requests() {
    double sum = 0;
    for (EtcdServer member : members) {
      Matcher received = RECEIVED.matcher(metrics(member));
      while (received.find()) {
        sum += Double.parseDouble(received.group(1));
      }
    }
    return Math.round(sum);
  }

  private String metrics(EtcdServer member) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(member.endpoint() + "/metrics")).timeout(TIMEOUT).build();
    try {
      return http.send(request, BodyHandlers.ofString()).body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }

  /** Keys of locks in the namespace that was fresh last. */
  @Override
  public long left(String side) {
    String body =
        "{\"key\":\"%s\",\"range_end\":\"%s\",\"count_only\":true}"
            .formatted(base64(namespace + "/"), base64(namespace + "0"));
    Matcher count = COUNT.matcher(members.get(0).post("/v3/kv/range", body));
    return count.find() ? Long.parseLong(count.group(1)) : 0;
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public List<String> notes() {
    return List.of(
        (cluster == null ? "an etcd server" : "three etcd servers")
            + " with defaults, log forced to the disk; store ops and commands: messages to KV,"
            + " Lease, Watch and Lock that its servers received, not what the service Lock asks"
            + " of the others inside of the server");
  }

  @Override
  public void killLeader() {
    EtcdServer leader = cluster().leader();
    dead = leader;
    leader.kill();
  }

  @Override
  public void mend() {
    if (dead != null) {
      cluster().restart(List.of(dead));
      dead = null;
      cluster().leader();
    }
  }

  private EtcdCluster cluster() {
    if (cluster == null) {
      throw new IllegalStateException("one server has no other to lead");
    }
    return cluster;
  }

  @Override
  public void close() {
    if (cluster == null) {
      members.forEach(EtcdServer::close);
    } else {
      cluster.close();
    }
  }
}

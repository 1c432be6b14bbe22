package io.pawl.quorum;

import io.pawl.servers.RedisServer;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Servers that are nodes of one quorum, and vote from the beginning. */
final class RedisNodes implements AutoCloseable {

  private final List<RedisServer> servers = new ArrayList<>();
  private final String options;

  /**
   * @param options of the URL, after its question mark
   */
  RedisNodes(int count, String options) {
    this(count, options, RedisServer::start);
  }

  RedisNodes(int count, String options, Supplier<RedisServer> node) {
    this.options = options;
    for (int i = 0; i < count; i++) {
      servers.add(node.get());
    }
    try (QuorumStore store = open()) {
      store.initialize();
    }
  }

  RedisServer server(int number) {
    return servers.get(number);
  }

  List<RedisServer> servers() {
    return servers;
  }

  String url() {
    return url(servers.stream().map(RedisServer::url).toList());
  }

  /** Over other URLs of the same servers. */
  String url(List<String> nodes) {
    return "quorum:?" + options + "|" + nodes.stream().collect(Collectors.joining("|"));
  }

  QuorumStore open() {
    return open(url());
  }

  static QuorumStore open(String url) {
    LockStore store = Stores.open(StoreUrl.parse(url));
    return (QuorumStore) store;
  }

  @Override
  public void close() {
    servers.forEach(RedisServer::close);
  }
}

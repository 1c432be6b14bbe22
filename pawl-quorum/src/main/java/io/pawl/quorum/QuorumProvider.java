package io.pawl.quorum;

import io.pawl.spi.LockStore;
import io.pawl.spi.QuorumNode;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.spi.UrlParameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Opens {@code quorum:<node>|<node>|<node>}, an odd number of URLs of stores, at least 3: {@code
 * quorum:redis://a|redis://b|redis://c}. A minority that cannot be reached at that moment is tried
 * again in the background.
 *
 * <p>{@link QuorumOptions} may stand before the first node, by name, after a question mark: {@code
 * quorum:?longestLease=30s&nodeTimeout=200ms|redis://a|redis://b|redis://c}.
 */
public final class QuorumProvider implements StoreProvider {

  private static final Set<String> PARAMETERS = Set.of("longestLease", "nodeTimeout");

  /** Known by name, since one that is away would otherwise be refused when it comes back. */
  private static final Set<String> NO_NODES =
      Set.of(
          "quorum",
          "gate",
          "memory",
          "etcd",
          "etcds",
          "zk",
          "zookeeper",
          "redis-cluster",
          "valkey-cluster");

  private static final String NODES = "name Redis, MySQL, MariaDB, PostgreSQL or SQLite";
  private static final String GRAMMAR = "write quorum:<URL>|<URL>|<URL>, an odd number of them";

  @Override
  public Set<String> schemes() {
    return Set.of("quorum");
  }

  @Override
  public LockStore open(StoreUrl url) {
    String rest = url.rest();
    QuorumOptions options = QuorumOptions.defaults();
    if (rest.startsWith("?")) {
      int end = rest.indexOf('|');
      if (end < 0) {
        throw url.wrong(GRAMMAR);
      }
      options = options(url, rest.substring(1, end));
      rest = rest.substring(end + 1);
    }
    List<String> descriptions = new ArrayList<>();
    List<Supplier<QuorumNode>> openers = new ArrayList<>();
    for (String part : StoreUrl.BAR.split(rest, -1)) {
      StoreUrl node = node(url, part);
      if (descriptions.contains(node.toString())) {
        throw url.wrong(node + " stands there twice; name each server once");
      }
      descriptions.add(node.toString());
      StoreProvider provider = Stores.provider(node); // a thread of ours might not find it
      openers.add(() -> opened(provider, node));
    }
    if (openers.size() < 3 || openers.size() % 2 == 0) {
      throw url.wrong(openers.size() + " nodes; name 3, 5 or 7");
    }
    return QuorumStore.owning(descriptions, openers, options);
  }

  private static StoreUrl node(StoreUrl url, String part) {
    if (!part.contains(":")) {
      throw url.wrong(GRAMMAR);
    }
    StoreUrl node = StoreUrl.parse(part);
    if (NO_NODES.contains(node.scheme())) {
      throw url.wrong(node.scheme() + ": cannot be a node of a quorum; " + NODES);
    }
    return node;
  }

  private static QuorumNode opened(StoreProvider provider, StoreUrl url) {
    LockStore store = provider.open(url);
    if (store instanceof QuorumNode node) {
      return node;
    }
    store.close();
    throw url.wrong("cannot be a node of a quorum; " + NODES);
  }

  private static QuorumOptions options(StoreUrl url, String query) {
    QuorumOptions usual = QuorumOptions.defaults();
    try {
      Map<String, String> given = UrlParameters.parse(query, PARAMETERS);
      return new QuorumOptions(
          UrlParameters.duration(given, "longestLease", usual.longestLease()),
          UrlParameters.duration(given, "nodeTimeout", usual.nodeTimeout()));
    } catch (IllegalArgumentException e) {
      throw url.wrong(String.valueOf(e.getMessage()));
    }
  }
}

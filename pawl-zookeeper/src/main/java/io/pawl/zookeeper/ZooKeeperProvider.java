package io.pawl.zookeeper;

import io.pawl.spi.LockStore;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import java.util.Set;

/**
 * Opens ZooKeeper by URL:
 *
 * <pre>
 * zk://[user:password@]host[:port][,host[:port]…][/node][?parameters]
 * </pre>
 *
 * {@code zookeeper} means the same. User and password, percent-encoded, are those of ZooKeeper's
 * digest scheme. Ports default to 2181; everything is stored below {@code /pawl} unless another
 * node is given, which is created if it does not exist. Parameters, each at most once:
 *
 * <ul>
 *   <li>{@code timeout=5s}: how long a request may stay unanswered, 10 ms to 1 min
 *   <li>{@code tick=2s}: the ensemble's {@code tickTime}, 10 ms to 1 min; 2 s unless given, or half
 *       of the ensemble's shortest session time-out if that is longer
 *   <li>{@code tls=true}: TLS, with {@code trustStore=/file}, {@code trustStorePassword=…}, {@code
 *       keyStore=/file}, {@code keyStorePassword=…}: files that end in .jks, .p12 or .pem
 * </ul>
 */
public final class ZooKeeperProvider implements StoreProvider {

  @Override
  public Set<String> schemes() {
    return Settings.SCHEMES;
  }

  @Override
  public LockStore open(StoreUrl url) {
    return ZooKeeperStore.open(Settings.parse(url));
  }
}

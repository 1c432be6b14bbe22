package io.pawl.redis;

import io.pawl.spi.LockStore;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import java.util.Set;

/**
 * Opens Redis and Valkey by URL:
 *
 * <pre>
 * redis://[user[:password]@]host[:port][/database][?parameters]
 * rediss://…                                       the same with TLS
 * redis-sentinel://[user[:password]@]host[:port][,host[:port]…][/database]?master=name[&amp;…]
 * redis-cluster://[user[:password]@]host[:port][,host[:port]…][?parameters]
 * </pre>
 *
 * {@code valkey}, {@code valkeys}, {@code valkey-sentinel} and {@code valkey-cluster} mean the
 * same. User and password are percent-encoded; a password alone is written {@code :password@}.
 * Ports default to 6379, Sentinels' to 26379. Parameters, each at most once:
 *
 * <ul>
 *   <li>{@code timeout=2s}: {@link RedisOptions#timeout}, as {@code 500ms} or {@code 2s}
 *   <li>{@code waitReplicas=1}, {@code waitTimeout=500ms}: {@link RedisOptions#waitReplicas}
 *   <li>{@code keepIds=24h}: {@link RedisOptions#keepIds}, as {@code 30m}, {@code 24h} or {@code
 *       7d}
 *   <li>{@code tls=true}: TLS with Sentinels (to the Sentinels and to the servers) or in a Cluster
 *   <li>{@code trustStore=/file}, {@code trustStorePassword=…}: a JKS or PKCS12 file to trust
 *       instead of the JDK's; {@code trustPem=/file}: certificates in PEM
 *   <li>{@code keyStore=/file}, {@code keyStorePassword=…}: a JKS or PKCS12 file with the client's
 *       own certificate
 *   <li>{@code verify=full}: checks the certificate and the host's name; {@code ca}: the
 *       certificate alone
 *   <li>{@code master=name}: the name by which the Sentinels know the primary
 *   <li>{@code sentinelUser=…}, {@code sentinelPassword=…}: if the Sentinels ask for them
 * </ul>
 */
public final class RedisProvider implements StoreProvider {

  @Override
  public Set<String> schemes() {
    return RedisUrl.SCHEMES;
  }

  @Override
  public LockStore open(StoreUrl url) {
    return RedisStore.connect(RedisUrl.parse(url), Scripts.load());
  }
}

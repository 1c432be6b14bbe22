package io.pawl.etcd;

import io.pawl.spi.LockStore;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import java.util.Set;

/**
 * Opens stores on etcd, 3.4 or newer:
 *
 * <pre>{@code
 * etcd://[user:password@]host[:port],host[:port]…[/namespace][?parameters]
 * etcds://…                              with TLS
 * }</pre>
 *
 * <p>The namespace is the beginning of all keys, {@code pawl} unless given. Parameters: {@code
 * timeout} of a request (2 s), {@code tls=true}, {@code trustPem} or {@code trustStore} with {@code
 * trustStorePassword}, {@code keyStore} with {@code keyStorePassword} (PKCS12), {@code verify=ca}
 * to accept a certificate for another host.
 */
public final class EtcdProvider implements StoreProvider {

  /** For {@link java.util.ServiceLoader}. */
  public EtcdProvider() {}

  @Override
  public Set<String> schemes() {
    return EtcdUrl.SCHEMES;
  }

  @Override
  public LockStore open(StoreUrl url) {
    return EtcdStore.connect(EtcdUrl.parse(url));
  }
}

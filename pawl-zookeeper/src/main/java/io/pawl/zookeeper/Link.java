package io.pawl.zookeeper;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.function.IntSupplier;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;

/** ZooKeeper's client, with two things that it does for its own tests alone. */
final class Link extends ZooKeeper {

  Link(Settings settings, int timeoutMillis, Watcher watcher) throws IOException {
    this(settings, timeoutMillis, watcher, new Hosts(settings, timeoutMillis));
  }

  private Link(Settings settings, int timeoutMillis, Watcher watcher, Hosts hosts)
      throws IOException {
    super(settings.hosts(), timeoutMillis, watcher, false, hosts, settings.clientConfig());
    hosts.grantedBy(this::getSessionTimeout);
    byte[] digest = settings.digest();
    if (digest != null) {
      addAuthInfo("digest", digest);
    }
  }

  /** Ends the connection and its threads, and leaves the session to run out. */
  void abandon() {
    cnxn.disconnect();
  }

  /** Breaks the connection, so that the client goes to another server under the same session. */
  void moveOn() throws IOException {
    getTestable().closeSocket();
  }

  /**
   * The hosts of the ensemble, for one session. ZooKeeper's client gives a new connection the
   * session's time-out divided by {@link #size} until it is open, and then goes to the next host:
   * so the size is what keeps that time short.
   */
  private static final class Hosts implements HostProvider {

    /**
     * A connection that takes longer than this, or a third of the request time-out, is given up.
     */
    private static final long SHORTEST_PATIENCE_MILLIS = 1_000;

    private final StaticHostProvider hosts;
    private final int patienceMillis;
    private volatile IntSupplier sessionMillis;

    Hosts(Settings settings, int timeoutMillis) {
      this.hosts =
          new StaticHostProvider(new ConnectStringParser(settings.hosts()).getServerAddresses());
      this.patienceMillis =
          (int) Math.max(SHORTEST_PATIENCE_MILLIS, settings.timeout().toMillis() / 3);
      this.sessionMillis = () -> timeoutMillis;
    }

    /** Counts from the time-out that the service has granted, once it has. */
    void grantedBy(IntSupplier grantedMillis) {
      int asked = sessionMillis.getAsInt();
      sessionMillis = () -> Math.max(asked, grantedMillis.getAsInt());
    }

    @Override
    public int size() {
      int rounded = (sessionMillis.getAsInt() - 1) / patienceMillis + 1;
      return Math.max(hosts.size(), rounded);
    }

    @Override
    public InetSocketAddress next(long spinDelayMillis) {
      return hosts.next(spinDelayMillis);
    }

    @Override
    public void onConnected() {
      hosts.onConnected();
    }

    @Override
    public boolean updateServerList(
        Collection<InetSocketAddress> servers, InetSocketAddress current) {
      return hosts.updateServerList(servers, current);
    }
  }
}

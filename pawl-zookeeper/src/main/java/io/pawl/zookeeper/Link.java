package io.pawl.zookeeper;

import java.io.IOException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

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
}

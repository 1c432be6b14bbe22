package io.pawl.etcd.gateway;

import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * A cluster and how to talk to it.
 *
 * @param shown the address for messages, without a password
 * @param endpoints the members, at least one
 * @param tls null for connections in the clear
 * @param checksHost whether a server's certificate has to be for the name that it was reached by
 * @param user null without authentication
 * @param timeout how long a request may stay unanswered
 */
public record Target(
    String shown,
    List<Endpoint> endpoints,
    @Nullable SSLSocketFactory tls,
    boolean checksHost,
    @Nullable String user,
    @Nullable String password,
    Duration timeout) {

  public Target {
    endpoints = List.copyOf(endpoints);
  }

  /** Without the password. */
  @Override
  public String toString() {
    return shown;
  }
}

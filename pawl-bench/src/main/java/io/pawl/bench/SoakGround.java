package io.pawl.bench;

import io.pawl.servers.FaultProxy;
import io.pawl.servers.RedisServer;
import io.pawl.servers.ServerProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The servers of a soak, each behind a proxy of its own. They lose nothing that they acknowledged
 * when they are killed: databases by their own defaults, Redis with {@code appendfsync always};
 * only a Redis that is a gate keeps nothing.
 *
 * @param parts the servers; the last one has the ledger
 * @param address by which clients come, through the proxies
 * @param ownAddress by which we come, past them
 */
record SoakGround(List<Part> parts, String address, String ownAddress, SoakLedger ledger)
    implements AutoCloseable {

  /** A server and the proxy before it. */
  record Part(String name, ServerProcess server, FaultProxy proxy) implements AutoCloseable {

    @Override
    public void close() {
      proxy.close();
      server.close();
    }
  }

  static SoakGround of(SqlFlavour flavour) {
    return begun(
        new ArrayList<>(),
        parts -> {
          ServerProcess server = flavour.start();
          Part part = part(parts, flavour.title, server, FaultProxy.before(server));
          String own = flavour.plainUrl(server, server.port());
          String through = flavour.plainUrl(server, part.proxy().port());
          return new SoakGround(parts, through, own, new SqlSoakLedger(own));
        });
  }

  static SoakGround redis() {
    return begun(
        new ArrayList<>(),
        parts -> {
          RedisServer server = RedisServer.setup().persistent().start();
          Part part = redis(parts, server);
          return new SoakGround(parts, url(part), server.url(), new RedisSoakLedger(server));
        });
  }

  static SoakGround gate(SqlFlavour flavour) {
    return begun(
        new ArrayList<>(),
        parts -> {
          Part gate = redis(parts, RedisServer.start());
          SoakGround truth = of(flavour);
          parts.addAll(truth.parts());
          return new SoakGround(
              parts,
              SoakFork.GATE + url(gate) + "|" + truth.address(),
              truth.ownAddress(),
              truth.ledger());
        });
  }

  private static Part redis(List<Part> parts, RedisServer server) {
    return part(parts, "Redis", server, FaultProxy.before(server));
  }

  private static Part part(List<Part> parts, String name, ServerProcess server, FaultProxy proxy) {
    Part part = new Part(name, server, proxy);
    parts.add(part);
    return part;
  }

  private static String url(Part redis) {
    return "redis://" + redis.proxy().host() + ":" + redis.proxy().port();
  }

  /** What was started ends where the rest cannot be. */
  private static SoakGround begun(List<Part> parts, Function<List<Part>, SoakGround> beginning) {
    try {
      return beginning.apply(parts);
    } catch (RuntimeException e) {
      parts.forEach(Part::close);
      throw e;
    }
  }

  boolean isGate() {
    return parts.size() > 1;
  }

  @Override
  public void close() {
    parts.forEach(Part::close);
  }
}

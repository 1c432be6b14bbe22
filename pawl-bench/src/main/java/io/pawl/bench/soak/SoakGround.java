package io.pawl.bench.soak;

import io.pawl.bench.rival.SqlFlavour;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.RedisServer;
import io.pawl.servers.ServerProcess;
import io.pawl.servers.fault.ProxiedServer;
import java.util.List;

/**
 * The servers of a soak, each behind a proxy of its own. They lose nothing that they acknowledged
 * when they are killed: databases by their own defaults, Redis with {@code appendfsync always};
 * only a Redis that is a gate keeps nothing.
 *
 * @param parts the servers; the last one has the ledger
 * @param address by which clients come, through the proxies
 * @param ownAddress by which we come, past them
 */
record SoakGround(List<ProxiedServer> parts, String address, String ownAddress, SoakLedger ledger)
    implements AutoCloseable {

  static SoakGround of(SqlFlavour flavour) {
    ServerProcess server = flavour.start();
    ProxiedServer part = new ProxiedServer(flavour.title, server, FaultProxy.before(server));
    String own = flavour.plainUrl(server, server.port());
    String through = flavour.plainUrl(server, part.proxy().port());
    return new SoakGround(List.of(part), through, own, new SqlSoakLedger(own));
  }

  static SoakGround redis() {
    return redis(RedisServer.setup().persistent().start());
  }

  private static SoakGround redis(RedisServer server) {
    ProxiedServer part = new ProxiedServer("Redis", server, FaultProxy.before(server));
    String through = "redis://" + part.proxy().host() + ":" + part.proxy().port();
    return new SoakGround(List.of(part), through, server.url(), new RedisSoakLedger(server));
  }

  static SoakGround gate(SqlFlavour flavour) {
    SoakGround gate = redis(RedisServer.start());
    try {
      SoakGround truth = of(flavour);
      return new SoakGround(
          List.of(gate.parts().get(0), truth.parts().get(0)),
          SoakFork.GATE + gate.address() + "|" + truth.address(),
          truth.ownAddress(),
          truth.ledger());
    } catch (RuntimeException e) {
      gate.close();
      throw e;
    }
  }

  boolean isGate() {
    return parts.size() > 1;
  }

  @Override
  public void close() {
    parts.forEach(ProxiedServer::close);
  }
}

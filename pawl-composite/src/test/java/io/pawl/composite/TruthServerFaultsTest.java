package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Pawl;
import io.pawl.counter.Update;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.servers.MySqlServer;
import io.pawl.spi.CounterStore;
import io.pawl.spi.LockStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A MySQL that dies under its gate, with the durability that it has by default. */
class TruthServerFaultsTest {

  private static final String STOCK = "truth-restarted";
  private static final long ALL = 1_000_000;
  private static final PawlOptions PATIENT = PawlOptions.defaults().patience(Duration.ofMinutes(1));

  private final MySqlServer server = MySqlServer.start(MySqlServer.Flavour.MYSQL);
  private final List<AutoCloseable> opened = new ArrayList<>(List.of(server));

  private <T extends AutoCloseable> T keep(T closeable) {
    opened.add(0, closeable);
    return closeable;
  }

  private Pawl client() {
    LockStore gate = keep(Servers.open(Servers.redisUrl()));
    LockStore truth = keep(Servers.open(Servers.urlOf(server)));
    return keep(Pawl.over(keep(GateStore.over(gate, truth)), PATIENT));
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
  }

  @Test
  void p1_p2_p7_holdAndClientsGoOnThoughTheTruthIsKilledInTheMiddle() throws Exception {
    Pawl one = client();
    Pawl two = client();
    one.counter(STOCK).update(Update.set(ALL));
    LockOptions strict = LockOptions.defaults().strictOrder();
    Crowd trade = Crowd.trading(STOCK, one, one, two, two);
    Crowd visits = Crowd.visiting(STOCK + "-lock", strict, one, two, one, two);
    trade.awaitTurns(10);
    visits.awaitTurns(3);

    server.kill();
    server.restart();

    trade.awaitTurns(10);
    visits.awaitTurns(3);
    long sold = trade.end();
    visits.end();
    String url = Servers.urlOf(server);
    String left = "SELECT value FROM pawl_counter WHERE name = '" + STOCK + "'";
    String ledger = "SELECT sum(delta) FROM pawl_ledger WHERE counter = '" + STOCK + "'";
    assertThat(Servers.number(url, left)).isEqualTo(ALL - sold);
    assertThat(Servers.number(url, ledger)).isEqualTo(ALL - sold);
    LockStore gate = keep(Servers.open(Servers.redisUrl()));
    await().until(() -> Seam.value((CounterStore) gate, STOCK) == ALL - sold);
  }
}

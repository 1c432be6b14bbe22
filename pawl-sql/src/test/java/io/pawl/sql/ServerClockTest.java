package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import io.pawl.servers.ClockLibrary;
import io.pawl.servers.MySqlServer;
import io.pawl.servers.PostgresServer;
import io.pawl.servers.ServerProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Somebody sets the clock of the server. */
class ServerClockTest {

  private static final LockOptions OPTIONS = LockOptions.defaults().lease(Duration.ofSeconds(9));

  @TempDir private Path folder;

  private ServerProcess start(TestDatabase database, Path clock) {
    return switch (database) {
      case MYSQL -> MySqlServer.startWithClock(MySqlServer.Flavour.MYSQL, clock);
      case MARIADB -> MySqlServer.startWithClock(MySqlServer.Flavour.MARIADB, clock);
      default -> PostgresServer.startWithClock(clock);
    };
  }

  private static String urlOf(ServerProcess server) {
    return server instanceof PostgresServer postgres
        ? postgres.plainUrl(postgres.port())
        : ((MySqlServer) server).plainUrl(server.port());
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aLeaseEndsEarlyWhereTheClockIsSetForwardAndItsHolderHearsOfItAtTheNextRenewal(
      TestDatabase database) throws Exception {
    Path clock = folder.resolve("clock");
    ClockLibrary.move(clock, Duration.ZERO);
    try (ServerProcess server = start(database, clock);
        Pawl here = Pawl.connect(urlOf(server));
        Pawl there = Pawl.connect(urlOf(server))) {
      Lease lease = here.lock("lock", OPTIONS).acquire();
      AtomicInteger losses = new AtomicInteger();
      lease.onLost(losses::incrementAndGet);
      CompletableFuture<Optional<Lease>> waiting =
          there.lock("lock", OPTIONS).tryAcquireAsync(Duration.ofMinutes(2));
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> waiting.isDone() || !there.inspect("lock").waiters().isEmpty());

      ClockLibrary.move(clock, Duration.ofHours(1));

      try (Lease next = waiting.get(60, SECONDS).orElseThrow()) {
        assertThat(next.token()).isGreaterThan(lease.token());
      } catch (LeaseLostException e) {
        // the server's processes see the clock move one after another
      }
      Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> losses.get() == 1);
      assertThat(lease.isValid()).isFalse();
      assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    }
  }
}

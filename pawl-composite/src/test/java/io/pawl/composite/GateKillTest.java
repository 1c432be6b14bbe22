package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Counter;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.counter.OperationId;
import io.pawl.counter.Outcome;
import io.pawl.counter.Update;
import io.pawl.options.LockOptions;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.LockStore;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.SecondProcess;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A JVM that is killed between gate and truth, held there by the network: while it gives back to a
 * counter that is sold out, takes a lock, and gives another one back.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class GateKillTest {

  /** Longer than any case: who stands at a step stays there until it is killed. */
  private static final String STAYS = "60s";

  private static final String LEASE_MILLIS = "5000";

  private final FaultProxy toGate = FaultProxy.before(Servers.redis());
  private final FaultProxy toTruth = FaultProxy.before(Servers.mySql());

  /** How far what it does has come when it is killed. */
  private enum Step {
    TRUTH_HEARS_NOTHING(false) {
      @Override
      void holdAt(GateKillTest test) {
        test.toTruth.blackHole(Direction.TO_SERVER);
      }

      @Override
      boolean isReached(GateKillTest test, String name) {
        return test.holders(test.gate, name + "-taken") == 1;
      }
    },
    /** Each connection falls silent with its first commit: those for locks, and for counters. */
    TRUTH_HAS_COMMITTED(true) {
      @Override
      void holdAt(GateKillTest test) {
        test.toTruth.dropCommits(10, AfterDrop.SILENCE, "UPDATE pawl_lock");
      }

      @Override
      boolean isReached(GateKillTest test, String name) {
        return test.toTruth.droppedReplies() >= 2 && value(test.truth, name) == 5;
      }
    },
    GATE_HEARS_NOTHING(true) {
      @Override
      void holdAt(GateKillTest test) {
        test.toGate.blackHole(Direction.TO_SERVER);
      }

      @Override
      boolean isReached(GateKillTest test, String name) {
        return test.holders(test.truth, name + "-returned") == 0 && value(test.truth, name) == 5;
      }
    },
    /** To the withdrawal, or to the new value, which it may have told to be tried again. */
    GATE_HAS_ANSWERED(true) {
      @Override
      void holdAt(GateKillTest test) {
        test.toGate.dropReplies(1, AfterDrop.SILENCE);
      }

      @Override
      boolean isReached(GateKillTest test, String name) {
        return test.toGate.droppedReplies() == 1 && value(test.truth, name) == 5;
      }
    };

    final boolean gives;

    /**
     * @param gives whether what it gives back has been committed by then
     */
    Step(boolean gives) {
      this.gives = gives;
    }

    abstract void holdAt(GateKillTest test);

    abstract boolean isReached(GateKillTest test, String name);
  }

  private final LockStore gate = Servers.open(Servers.redisUrl());
  private final LockStore truth = Servers.open(Servers.mySqlUrl());

  private static <T> T answer(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
  }

  private int holders(LockStore store, String lock) {
    Optional<LockView> view = answer(((Inspectable) store).show(lock));
    return view.map(known -> known.holders().size()).orElse(0);
  }

  private static long value(LockStore store, String counter) {
    return answer(((CounterStore) store).read(counter)).map(CounterView::value).orElse(-1L);
  }

  private static long stored(String what, String from, String where) throws SQLException {
    String sql = "SELECT " + what + " FROM " + from + " WHERE " + where;
    return Servers.number(Servers.mySqlUrl(), sql);
  }

  @ParameterizedTest
  @EnumSource
  void p1_p2_p7_holdWhateverStepAJvmIsKilledAt(Step step) throws Exception {
    String name = "kill-" + step;
    String far =
        ("gate:?gatePatience=10s|" + Servers.redisUrl(toGate) + "?timeout=" + STAYS)
            + ("|" + Servers.mySqlUrl(toTruth) + "&socketTimeout=60000");
    String near =
        "gate:?settle=200ms&soldOutKept=50ms|" + Servers.redisUrl() + "|" + Servers.mySqlUrl();
    try (FaultProxy gateProxy = toGate;
        FaultProxy truthProxy = toTruth;
        LockStore ownGate = gate;
        LockStore ownTruth = truth;
        Pawl other = Pawl.connect(near);
        SecondProcess process = SecondProcess.start(far)) {
      Counter stock = other.counter(name);
      stock.update(Update.set(1));
      assertThat(stock.tryTake(1).isApplied()).isTrue();
      await().until(() -> value(gate, name) == 0);
      assertThat(stock.tryTake(1).isApplied()).isFalse();
      long token = visit(other, name + "-taken");
      long returned =
          SecondProcess.token(process.order("acquire", name + "-returned", LEASE_MILLIS));
      assertThat(process.order("give", name + "-other", "1", "connected")).isEqualTo("given");

      step.holdAt(this);
      assertThat(process.order("apart", "close")).isEqualTo("apart");
      assertThat(process.order("apart", "give", name, "5", "given")).isEqualTo("apart");
      assertThat(process.order("apart", "acquire", name + "-taken", LEASE_MILLIS))
          .isEqualTo("apart");
      await().atMost(Duration.ofSeconds(20)).until(() -> step.isReached(this, name));
      process.kill();

      long left = step.gives ? 5 : 0;
      assertThat(stored("value", "pawl_counter", "name = '" + name + "'")).isEqualTo(left);
      assertThat(stock.outcome(OperationId.of("given")).status())
          .isEqualTo(step.gives ? Outcome.Status.APPLIED : Outcome.Status.NEVER);
      for (long sold = 0; sold < left; sold++) {
        await().until(() -> stock.tryTake(1).isApplied());
      }
      assertThat(stock.tryTake(1).isApplied()).isFalse();
      await().until(() -> value(gate, name) == 0);
      assertThat(stored("value", "pawl_counter", "name = '" + name + "'")).isZero();
      assertThat(stored("sum(delta)", "pawl_ledger", "counter = '" + name + "'")).isZero();
      assertThat(visit(other, name + "-taken")).isGreaterThan(token);
      assertThat(visit(other, name + "-returned")).isGreaterThan(returned);
    }
  }

  private static long visit(Pawl pawl, String lock) throws InterruptedException {
    try (Lease lease =
        pawl.lock(lock, LockOptions.defaults()).tryAcquire(Bench.PATIENCE).orElseThrow()) {
      return lease.token();
    }
  }
}

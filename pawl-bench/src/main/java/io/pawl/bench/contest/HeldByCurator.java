package io.pawl.bench.contest;

import io.pawl.bench.rival.CuratorLocks;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** Of one session. A mutex belongs to the thread that took it, so each lock has its thread. */
final class HeldByCurator extends Held {

  private static final int THREADS = 64;

  private final CuratorFramework curator;
  private final List<ExecutorService> threads = new ArrayList<>();
  private final List<InterProcessMutex> mutexes = new ArrayList<>();

  HeldByCurator(String address, int locks) {
    curator = CuratorLocks.connected(address, CuratorLocks.USUAL_SESSION);
    for (int thread = 0; thread < THREADS; thread++) {
      threads.add(Executors.newSingleThreadExecutor());
    }
    for (int lock = 0; lock < locks; lock++) {
      mutexes.add(new InterProcessMutex(curator, CuratorLocks.node(address, name(lock))));
    }
  }

  @Override
  void take() throws InterruptedException {
    each(
        mutexes.size(),
        i ->
            onItsThread(
                i,
                () -> {
                  mutexes.get(i).acquire();
                  return i;
                }));
  }

  private CompletionStage<?> onItsThread(int lock, Callable<?> call) {
    return CompletableFuture.supplyAsync(() -> called(call), threads.get(lock % THREADS));
  }

  private static Object called(Callable<?> call) {
    try {
      return call.call();
    } catch (Exception e) {
      throw new CompletionException(e);
    }
  }

  @Override
  double lost() {
    return Double.NaN;
  }

  @Override
  int invalid() throws InterruptedException {
    AtomicInteger invalid = new AtomicInteger();
    each(
        mutexes.size(),
        i ->
            onItsThread(
                i,
                () -> invalid.addAndGet(mutexes.get(i).getParticipantNodes().isEmpty() ? 1 : 0)));
    return invalid.get();
  }

  @Override
  double renewalAgeSeconds() {
    return Double.NaN;
  }

  @Override
  void release() throws InterruptedException {
    each(
        mutexes.size(),
        i ->
            onItsThread(
                i,
                () -> {
                  mutexes.get(i).release();
                  return i;
                }));
  }

  @Override
  public void close() {
    threads.forEach(ExecutorService::shutdown);
    curator.close();
  }
}

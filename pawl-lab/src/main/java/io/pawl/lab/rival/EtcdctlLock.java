package io.pawl.lab.rival;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.lab.stage.LabException;
import io.pawl.lab.stage.Stage;
import io.pawl.servers.EtcdServer;
import io.pawl.servers.Guard;
import io.pawl.servers.ServerProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** {@code etcdctl lock}: etcd's {@code concurrency.Mutex}, in a process of its own. */
final class EtcdctlLock implements AutoCloseable {

  private static final long PATIENCE_SECONDS = 60;

  private final Process process;
  private final Guard guard;
  private final CompletableFuture<String> said;
  private final CompletableFuture<String> complained;

  EtcdctlLock(Stage stage, long ttlSeconds) throws IOException {
    process =
        new ProcessBuilder(
                EtcdServer.etcdctl().toString(),
                "--endpoints=" + stage.ground().etcd().endpoint(),
                "lock",
                "--ttl=" + ttlSeconds,
                stage.name())
            .start();
    guard = Guard.over(process);
    said = firstLine(process.inputReader(UTF_8));
    complained = firstLine(process.errorReader(UTF_8));
    stage.own(this);
  }

  /** The first line that has a letter; empty if there is none. */
  private static CompletableFuture<String> firstLine(BufferedReader from) {
    return CompletableFuture.supplyAsync(
        () -> from.lines().filter(line -> !line.isBlank()).findFirst().orElse(""),
        reading -> DaemonThreads.named("lab-etcdctl", reading).start());
  }

  /** Whether it has said that it holds: by the name of its key. */
  boolean isGranted() {
    return said.isDone() && !said.join().isEmpty();
  }

  boolean hasEnded() {
    return !process.isAlive();
  }

  /** What it ended with. */
  String complaint() {
    return complained.join();
  }

  /** Ends as it does on SIGTERM: it unlocks. */
  void unlock() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new LabException("etcdctl outlived SIGTERM for " + PATIENCE_SECONDS + " s");
    }
  }

  /** Stops it, SIGSTOP. */
  void pause() {
    ServerProcess.freeze(process.toHandle(), "etcdctl");
  }

  /** Lets it go on, SIGCONT. */
  void resume() {
    ServerProcess.thaw(process.toHandle(), "etcdctl");
  }

  @Override
  public void close() throws InterruptedException {
    process.destroyForcibly();
    guard.dismiss();
    process.waitFor();
  }
}

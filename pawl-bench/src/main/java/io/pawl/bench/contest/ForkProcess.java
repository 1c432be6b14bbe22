package io.pawl.bench.contest;

import io.pawl.bench.BenchException;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Starts a {@link Fork} in a JVM of its own, with this one's class path. */
final class ForkProcess implements AutoCloseable {

  private static final long GRACE_MILLIS = 300_000;

  private final Fork.Order order;
  private final Process process;
  private final BufferedReader said;
  private final Path complaints;
  private boolean isReady;

  ForkProcess(Fork.Order order, List<String> jvmArguments) {
    this.order = order;
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmArguments);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Fork.class.getName()));
    command.addAll(List.of(order.toArguments()));
    try {
      complaints = Files.createTempFile(order.board().getParent(), "fork", ".err");
      process = new ProcessBuilder(command).redirectError(complaints.toFile()).start();
      said = process.inputReader(StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns when all its threads have their locks. */
  void awaitReady() {
    if (isReady) {
      return;
    }
    CompletableFuture<Boolean> ready = CompletableFuture.supplyAsync(this::saysReady);
    try {
      if (!ready.get(GRACE_MILLIS, TimeUnit.MILLISECONDS)) {
        finished();
        throw new BenchException(order.rival() + " ended before it was ready: " + complaint());
      }
      isReady = true;
    } catch (TimeoutException e) {
      throw new BenchException(order.rival() + " was not ready in " + GRACE_MILLIS + " ms", e);
    } catch (ExecutionException e) {
      throw new BenchException(order.rival() + " cannot be heard", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }

  private boolean saysReady() {
    try {
      String line = said.readLine();
      while (line != null && !line.equals(Fork.READY)) {
        line = said.readLine();
      }
      return line != null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void go() {
    try {
      process.getOutputStream().write('\n');
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new BenchException(order.rival() + " could not be started: " + complaint(), e);
    }
  }

  Tally tally() {
    finished();
    try (DataInputStream in = new DataInputStream(Files.newInputStream(order.tally()))) {
      return Tally.read(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void finished() {
    try {
      long patience = order.warmUpMillis() + order.millis() + GRACE_MILLIS;
      if (!process.waitFor(patience, TimeUnit.MILLISECONDS)) {
        throw new BenchException(order.rival() + " did not end in " + patience + " ms");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
    if (process.exitValue() == Fork.VIOLATED) {
      throw new ExclusionViolation(order.rival() + " on " + order.address() + ": " + complaint());
    }
    if (process.exitValue() != 0) {
      throw new BenchException(order.rival() + " failed: " + complaint());
    }
  }

  private String complaint() {
    try {
      return Files.readString(complaints).strip();
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}

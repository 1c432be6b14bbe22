package io.pawl.lab.stage;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import io.pawl.servers.Guard;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A JVM of its own that holds a lock by Pawl, to be stopped, let go on, asked and killed. It says
 * what its wall clock shows, takes the lock, says {@code held TOKEN} or {@code busy}, and answers
 * each line that it reads by {@code valid} or {@code lost}.
 */
public final class Actor implements AutoCloseable {

  private static final long PATIENCE_SECONDS = 60;

  private final Process process;
  private final Guard guard;
  private final BufferedReader said;
  private final long aheadMillis;

  /**
   * @param environment beside this process'
   * @param waits whether it stands in line for a lock that is busy
   */
  Actor(Map<String, String> environment, String url, String lock, Duration lease, boolean waits) {
    try {
      ProcessBuilder builder =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "-Xshare:auto",
                  "-cp",
                  System.getProperty("java.class.path"),
                  Actor.class.getName(),
                  url,
                  lock,
                  Long.toString(lease.toMillis()),
                  Boolean.toString(waits))
              .redirectError(ProcessBuilder.Redirect.INHERIT);
      builder.environment().putAll(environment);
      process = builder.start();
      guard = Guard.over(process);
      said = process.inputReader(StandardCharsets.UTF_8);
      aheadMillis = Long.parseLong(hear()) - System.currentTimeMillis();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@code URL LOCK LEASE_MILLIS WAITS}. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    System.out.println(System.currentTimeMillis());
    LockOptions options =
        LockOptions.defaults().lease(Duration.ofMillis(Long.parseLong(arguments[2])));
    BufferedReader asked =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Pawl pawl = Pawl.connect(arguments[0]);
    DistributedLock lock = pawl.lock(arguments[1], options);
    boolean waits = Boolean.parseBoolean(arguments[3]);
    Optional<Lease> lease = waits ? Optional.of(lock.acquire()) : lock.tryAcquire();
    System.out.println(lease.map(it -> "held " + it.token()).orElse("busy"));
    while (asked.readLine() != null) {
      System.out.println(lease.filter(Lease::isValid).isPresent() ? "valid" : "lost");
    }
    pawl.close();
  }

  /** Returns how far its wall clock was ahead of this JVM's as it started, about. */
  public long aheadSeconds() {
    return Math.round(aheadMillis / 1e3);
  }

  /** Returns, once it knows, whether the lock was busy for it. */
  public boolean awaitBusy() {
    return hear().equals("busy");
  }

  /** Returns the token under which it holds, once it does. */
  public long awaitHold() {
    String line = hear();
    if (!line.startsWith("held ")) {
      throw new LabException("an actor said '" + line + "' in place of 'held'");
    }
    return Long.parseLong(line.substring("held ".length()));
  }

  /** Returns whether it thinks that it holds; it must not be stopped. */
  public boolean believes() {
    try {
      process.getOutputStream().write('\n');
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return hear().equals("valid");
  }

  private String hear() {
    CompletableFuture<String> line = CompletableFuture.supplyAsync(this::line);
    try {
      return line.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new LabException("an actor said nothing for " + PATIENCE_SECONDS + " s", e);
    } catch (ExecutionException e) {
      throw new LabException("an actor cannot be heard", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LabException("interrupted", e);
    }
  }

  private String line() {
    try {
      String line = said.readLine();
      if (line == null) {
        throw new LabException("an actor ended; its complaint stands above");
      }
      return line;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Stops it as a long collection of garbage does: SIGSTOP. */
  public void pause() {
    signal("STOP");
  }

  /** Lets it go on: SIGCONT. */
  public void resume() {
    signal("CONT");
  }

  private void signal(String signal) {
    try {
      new ProcessBuilder("sh", "-c", "kill -" + signal + " " + process.pid()).start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LabException("interrupted", e);
    }
  }

  /** Kills it, SIGKILL, and returns once it is dead. */
  @Override
  public void close() {
    process.destroyForcibly();
    guard.dismiss();
    try {
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new LabException("an actor outlived SIGKILL");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

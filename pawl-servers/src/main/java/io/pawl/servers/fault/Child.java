package io.pawl.servers.fault;

import io.pawl.servers.Guard;
import io.pawl.servers.ServerException;
import io.pawl.servers.ServerProcess;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A JVM of its own that answers in lines; what it complains of goes to our standard error. It does
 * not outlive this JVM, stopped or not.
 */
public final class Child implements AutoCloseable {

  /** For {@link #limitFiles}. */
  public static final long UNLIMITED = Long.MAX_VALUE;

  private static final long DEATH_SECONDS = 60;

  private final String title;
  private final Process process;
  private final Guard guard;
  private final BufferedReader said;

  /**
   * @param title by which complaints name it
   */
  public Child(
      String title,
      List<String> jvmArguments,
      List<String> classPath,
      Class<?> main,
      List<String> arguments) {
    this(title, jvmArguments, classPath, main, arguments, Map.of());
  }

  /**
   * @param title by which complaints name it
   * @param environment what it has besides this process'
   */
  public Child(
      String title,
      List<String> jvmArguments,
      List<String> classPath,
      Class<?> main,
      List<String> arguments,
      Map<String, String> environment) {
    this.title = title;
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmArguments);
    command.addAll(List.of("-cp", String.join(File.pathSeparator, classPath), main.getName()));
    command.addAll(arguments);
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
      builder.environment().putAll(environment);
      process = builder.start();
      guard = Guard.over(process);
      said = process.inputReader(StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** This JVM's own class path. */
  public static List<String> ownClassPath() {
    return List.of(System.getProperty("java.class.path").split(File.pathSeparator));
  }

  /** The figures of the line that begins with {@code word}; lines before it are skipped. */
  public double[] hear(String word, long patienceMillis) {
    String[] words = hearWords(word, patienceMillis);
    double[] figures = new double[words.length - 1];
    for (int figure = 0; figure < figures.length; figure++) {
      figures[figure] = Double.parseDouble(words[figure + 1]);
    }
    return figures;
  }

  /** As {@link #hear}, a time of {@link System#nanoTime}, which a double would round. */
  public long hearNanos(String word, long patienceMillis) {
    return Long.parseLong(hearWords(word, patienceMillis)[1]);
  }

  private String[] hearWords(String word, long patienceMillis) {
    CompletableFuture<String> line = CompletableFuture.supplyAsync(() -> lineOf(word));
    try {
      String[] words = line.get(patienceMillis, TimeUnit.MILLISECONDS).split(" ");
      if (words[0].isEmpty()) {
        throw new ServerException(
            title + " ended before it said '" + word + "'; its complaint stands above");
      }
      return words;
    } catch (TimeoutException e) {
      throw new ServerException(title + " has not said '" + word + "' in time", e);
    } catch (ExecutionException e) {
      throw new ServerException(title + " cannot be heard", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerException("interrupted", e);
    }
  }

  /** Empty where the process ends without it. */
  private String lineOf(String word) {
    try {
      for (String line = said.readLine(); line != null; line = said.readLine()) {
        if (line.equals(word) || line.startsWith(word + " ")) {
          return line;
        }
      }
      return "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public void goOn() {
    try {
      process.getOutputStream().write('\n');
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new ServerException(title + " cannot be told to go on", e);
    }
  }

  /** Returns once it has ended well. */
  public void awaitEnd(long patienceMillis) {
    try {
      if (!process.waitFor(patienceMillis, TimeUnit.MILLISECONDS)) {
        throw new ServerException(title + " did not end in " + patienceMillis + " ms");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerException("interrupted", e);
    }
    if (process.exitValue() != 0) {
      throw new ServerException(title + " ended with " + process.exitValue());
    }
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Freezes it (SIGSTOP); returns once it stands still. */
  public void pause() {
    ServerProcess.freeze(process.toHandle(), title);
  }

  /** Lets it go on (SIGCONT). */
  public void resume() {
    ServerProcess.thaw(process.toHandle(), title);
  }

  /**
   * From now on its writes to files fail (EFBIG) beyond {@code bytes}, by {@code prlimit} of
   * util-linux.
   */
  public void limitFiles(long bytes) {
    String soft = bytes == UNLIMITED ? "unlimited" : Long.toString(bytes);
    String pid = Long.toString(process.pid());
    try {
      int status =
          new ProcessBuilder("prlimit", "--pid", pid, "--fsize=" + soft + ":").start().waitFor();
      if (status != 0) {
        throw new ServerException("prlimit of " + title + " ended with " + status);
      }
    } catch (IOException e) {
      throw new ServerException("cannot limit the files of " + title, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerException("interrupted", e);
    }
  }

  /** Returns once it is dead. */
  public void kill() {
    close();
    try {
      if (!process.waitFor(DEATH_SECONDS, TimeUnit.SECONDS)) {
        throw new ServerException(title + " outlived SIGKILL for " + DEATH_SECONDS + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerException("interrupted", e);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    guard.dismiss();
  }
}

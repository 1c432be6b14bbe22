package io.pawl.bench.contest;

import io.pawl.bench.BenchException;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A JVM of its own that answers in lines; what it complains of goes to our standard error. */
public final class Child implements AutoCloseable {

  private static final long DEATH_SECONDS = 60;

  private final String title;
  private final Process process;
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
    this.title = title;
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmArguments);
    command.addAll(List.of("-cp", String.join(File.pathSeparator, classPath), main.getName()));
    command.addAll(arguments);
    try {
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
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
        throw new BenchException(
            title + " ended before it said '" + word + "'; its complaint stands above");
      }
      return words;
    } catch (TimeoutException e) {
      throw new BenchException(title + " has not said '" + word + "' in time", e);
    } catch (ExecutionException e) {
      throw new BenchException(title + " cannot be heard", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
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
      throw new BenchException(title + " cannot be told to go on", e);
    }
  }

  /** Returns once it has ended well. */
  public void awaitEnd(long patienceMillis) {
    try {
      if (!process.waitFor(patienceMillis, TimeUnit.MILLISECONDS)) {
        throw new BenchException(title + " did not end in " + patienceMillis + " ms");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
    if (process.exitValue() != 0) {
      throw new BenchException(title + " ended with " + process.exitValue());
    }
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Returns once it is dead. */
  public void kill() {
    close();
    try {
      if (!process.waitFor(DEATH_SECONDS, TimeUnit.SECONDS)) {
        throw new BenchException(title + " outlived SIGKILL for " + DEATH_SECONDS + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}

package io.pawl.tck.rig;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.DaemonThreads;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** Another JVM that runs {@link Puppet}, from this side: its orders, its replies, its signals. */
public final class SecondProcess implements AutoCloseable {

  private final Process process;
  private final PrintStream orders;
  private final BlockingQueue<String> replies = new LinkedBlockingQueue<>();
  private final Queue<String> noise = new ConcurrentLinkedQueue<>();
  private final Thread reader;

  private SecondProcess(Process process) {
    this.process = process;
    this.orders = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    reader = DaemonThreads.named("tck-second-process", this::read);
    reader.start();
  }

  public static SecondProcess start(String url) throws IOException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    ProcessBuilder builder =
        new ProcessBuilder(
            java, "-XX:TieredStopAtLevel=1", "-cp", classPath, Puppet.class.getName(), url);
    builder.redirectErrorStream(true);
    return new SecondProcess(builder.start());
  }

  private void read() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(Puppet.REPLY)) {
          replies.add(line.substring(Puppet.REPLY.length()));
        } else {
          noise.add(line);
        }
      }
    } catch (IOException e) {
      noise.add(e.toString());
    }
  }

  /** Gives an order and returns its reply. */
  public String order(String... words) throws InterruptedException {
    tell(words);
    return reply();
  }

  /** Gives an order whose reply is not the next. */
  public void tell(String... words) {
    orders.println(String.join(" ", words));
  }

  public String reply() throws InterruptedException {
    String reply = replies.poll(Bench.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    if (reply == null) {
      throw new AssertionError("the second process is silent; it printed " + noise);
    }
    return reply;
  }

  /** What else it said, now that it has ended. */
  public List<String> lastReplies() throws InterruptedException {
    reader.join(Bench.PATIENCE.toMillis());
    assertThat(reader.isAlive()).as("the end of its output was read").isFalse();
    List<String> last = new ArrayList<>();
    replies.drainTo(last);
    return last;
  }

  /** The number after {@code held} in its next reply. */
  public static long token(String reply) {
    assertThat(reply).startsWith("held ");
    return Long.parseLong(reply.substring("held ".length()));
  }

  /** Returns when the process stands still: {@code kill} may return before it does. */
  public void stop() throws Exception {
    signal("STOP");
    Path stat = Path.of("/proc", Long.toString(process.pid()), "stat");
    if (Files.exists(stat)) {
      Awaitility.await().atMost(Bench.PATIENCE).until(() -> state(stat) == 'T');
    }
  }

  private static char state(Path stat) throws IOException {
    String fields = Files.readString(stat);
    return fields.charAt(fields.lastIndexOf(')') + 2);
  }

  public void resume() throws Exception {
    signal("CONT");
  }

  public void terminate() throws Exception {
    signal("TERM");
    awaitEnd();
  }

  public void kill() throws Exception {
    process.destroyForcibly();
    awaitEnd();
  }

  public void exit() throws Exception {
    orders.println("exit");
    awaitEnd();
  }

  /** Its main thread returns, which is the only one that keeps the process. */
  public void endOfOrders() throws Exception {
    orders.close();
    awaitEnd();
  }

  private void signal(String name) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
    assertThat(kill.waitFor()).as("kill -%s", name).isZero();
  }

  private void awaitEnd() throws InterruptedException {
    boolean ended = process.waitFor(Bench.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(ended).as("the second process ends; it printed %s", noise).isTrue();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}

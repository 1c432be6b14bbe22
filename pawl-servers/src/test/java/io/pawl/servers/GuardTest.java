package io.pawl.servers;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.fault.Child;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Nothing outlives the JVM that started it. */
class GuardTest {

  private static final long PATIENCE_MILLIS = 60_000;

  @Test
  void aChildThatStandsStillDoesNotOutliveAJvmThatIsKilled() {
    try (Child parent = child(Parent.class)) {
      long grandchild = parent.hearNanos("stopped", PATIENCE_MILLIS);
      assertThat(state(grandchild)).isEqualTo('T');

      parent.kill();

      Await.until(() -> "ZX".indexOf(state(grandchild)) >= 0, () -> "it was not killed");
    }
  }

  private static Child child(Class<?> main) {
    return new Child("a child", List.of(), Child.ownClassPath(), main, List.of());
  }

  private static char state(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2);
    } catch (IOException e) {
      return 'X';
    }
  }

  /** Stops a child of its own, and is killed beside it. */
  static final class Parent {
    public static void main(String[] arguments) throws IOException {
      try (Child child = child(Sleeper.class)) {
        long pid = child.hearNanos("is", PATIENCE_MILLIS);
        child.pause();
        System.out.println("stopped " + pid);
        System.in.read();
      }
    }
  }

  /** Waits to be killed. */
  static final class Sleeper {
    public static void main(String[] arguments) throws InterruptedException {
      System.out.println("is " + ProcessHandle.current().pid());
      Thread.sleep(Long.MAX_VALUE);
    }
  }
}

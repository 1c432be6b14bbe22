package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.e2e.Shell.Started;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoTest {

  @TempDir Path directory;

  @Test
  void theDemoHoldsAndItsBrokenTwinDoesNot() {
    Shell shell = new Shell(directory);
    Started demo = shell.start("demo");
    Started broken = shell.start("demo", "--break", "fence");
    assertThat(demo.exit()).isZero();
    assertThat(demo.output()).contains("All checks held").doesNotContain("FAILED");
    assertThat(demo.errors()).isEmpty();
    assertThat(broken.exit()).isEqualTo(70);
    assertThat(broken.output()).contains("FAILED: the fence let token");
  }
}

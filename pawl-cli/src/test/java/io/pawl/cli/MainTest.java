package io.pawl.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Output;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import org.junit.jupiter.api.Test;

class MainTest {

  /** As where a jar is missing, or no thread can be started. */
  private static final class Failing extends HashMap<String, String> {
    private static final long serialVersionUID = 1;

    @Override
    public String getOrDefault(Object key, String otherwise) {
      throw new NoClassDefFoundError("says the test");
    }
  }

  @Test
  void anErrorIsOneLineAndAnExitCodeThatIsNoCommands() {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(said, true, StandardCharsets.UTF_8);

    int exit = new Main(new Failing(), new Output(stream, stream)).run(List.of("list"));

    assertThat(exit).isEqualTo(Exit.INTERNAL);
    assertThat(said.toString(StandardCharsets.UTF_8))
        .startsWith("pawl: internal error")
        .contains("says the test")
        .hasLineCount(1);
  }
}

package io.pawl.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Output;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  /** Where a word was forgotten before it, it is taken for that word. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "URL",
        "help URL",
        "schema URL",
        "quorum URL",
        "tokens URL",
        "tokens raise --by URL",
        "demo URL",
        "counter URL",
        "counter add x URL",
        "counter get x --store:URL",
        "completion URL",
        "list URL",
        "list --json=URL",
        "show x --store:URL",
        "show x -xURL",
        "release x --token URL",
        "run --permits URL x -- true",
        "run --on-lost URL x -- true"
      })
  void aUrlInTheWrongPlaceIsNotRepeated(String line) {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(said, true, StandardCharsets.UTF_8);
    List<String> words =
        Stream.of(line.split(" "))
            .map(word -> word.replace("URL", "jdbc:mysql://app:canary@host/db"))
            .toList();

    int exit = new Main(Map.of(), new Output(stream, stream)).run(words);

    assertThat(exit).isEqualTo(Exit.USAGE);
    assertThat(said.toString(StandardCharsets.UTF_8)).hasLineCount(1).doesNotContain("canary");
  }
}

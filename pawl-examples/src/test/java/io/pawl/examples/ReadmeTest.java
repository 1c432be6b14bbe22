package io.pawl.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What README shows as Java is Java. */
class ReadmeTest {

  private static final Path README = Path.of("..", "README.md");
  private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
  private static final Pattern CLASS = Pattern.compile("class (\\w+)");

  /** What a fragment may take for given. */
  private static final String AROUND =
      """
      import io.pawl.*;
      import io.pawl.counter.*;
      import io.pawl.options.*;
      import java.time.*;
      class Fragment {
        void run(Pawl pawl) throws Exception {
          %s
        }
      }
      """;

  @TempDir Path classes;

  @Test
  void everyProgramAndFragmentOfTheReadmeCompiles() throws IOException {
    List<String> blocks = blocks();
    assertThat(blocks).hasSizeGreaterThanOrEqualTo(2);
    for (String block : blocks) {
      String source = block.startsWith("import ") ? block : AROUND.formatted(block);
      assertThat(complaints(source)).as(source).isEmpty();
    }
  }

  @Test
  void theFirstBlockIsAWholeProgram() throws IOException {
    assertThat(blocks().get(0)).startsWith("import ").contains("void main(String[] args)");
  }

  private static List<String> blocks() throws IOException {
    List<String> blocks = new ArrayList<>();
    Matcher matcher = BLOCK.matcher(Files.readString(README));
    while (matcher.find()) {
      blocks.add(matcher.group(1));
    }
    return blocks;
  }

  private String complaints(String source) {
    Matcher name = CLASS.matcher(source);
    assertThat(name.find()).isTrue();
    StringWriter complaints = new StringWriter();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    String path =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    boolean compiled =
        compiler
            .getTask(
                complaints,
                null,
                null,
                List.of("-proc:none", "-cp", path, "-d", classes.toString()),
                null,
                List.of(new Source(name.group(1), source)))
            .call();
    return compiled ? "" : complaints.toString();
  }

  private static final class Source extends SimpleJavaFileObject {

    private final String text;

    Source(String name, String text) {
      super(URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}

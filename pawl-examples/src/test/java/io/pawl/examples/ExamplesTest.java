package io.pawl.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ExamplesTest {

  /** Every class with a main method; a new example is run without being named here. */
  static List<Class<?>> examples() throws IOException, URISyntaxException {
    Path root =
        Path.of(FencedAccount.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (var files = Files.walk(root)) {
      return files
          .map(file -> root.relativize(file).toString())
          .filter(name -> name.endsWith(".class") && !name.contains("-info"))
          .<Class<?>>map(ExamplesTest::load)
          .filter(type -> Arrays.stream(type.getDeclaredMethods()).anyMatch(ExamplesTest::isMain))
          .toList();
    }
  }

  private static Class<?> load(String file) {
    String name = file.substring(0, file.length() - ".class".length()).replaceAll("[/\\\\]", ".");
    try {
      return Class.forName(name);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean isMain(Method method) {
    return method.getName().equals("main") && Modifier.isStatic(method.getModifiers());
  }

  @Test
  void examplesAreFound() throws Exception {
    assertThat(examples()).contains(FencedAccount.class);
  }

  @ParameterizedTest
  @MethodSource("examples")
  void showsWhatItSays(Class<?> example) throws Exception {
    example.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
  }
}

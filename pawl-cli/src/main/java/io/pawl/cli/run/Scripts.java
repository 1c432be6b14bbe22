package io.pawl.cli.run;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Shell scripts that are part of the program. */
final class Scripts {

  private Scripts() {}

  static String read(String name) {
    try (InputStream script = Scripts.class.getResourceAsStream(name)) {
      return new String(
          Objects.requireNonNull(script, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

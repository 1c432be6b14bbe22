package io.pawl.models;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A module of TLA+ with a configuration: the module's own, or a changed one. Immutable.
 *
 * @param module the name of the {@code .tla} file
 * @param label names the run among those of its module
 * @param configuration the text of a {@code .cfg} file
 */
record Model(String module, String label, String configuration) {

  /** The folder of modules and configurations. */
  static final Path FOLDER = Path.of("tla");

  private static final Pattern SWITCH = Pattern.compile("Mutant\\s*[=#]\\s*\"(\\w+)\"");
  private static final Pattern PROMISES = Pattern.compile("(?m)^(INVARIANTS?|PROPERTY) .*\n");

  static Model of(String module) {
    return new Model(module, "model", read(module + ".cfg"));
  }

  /** With one mistake switched on. */
  Model mutant(String mistake) {
    return with("Mutant", '"' + mistake + '"').labelled(mistake);
  }

  /** With another value of a constant. */
  Model with(String constant, String value) {
    Pattern line = Pattern.compile("(?m)^(\\s*" + constant + " = ).*$");
    assertThat(configuration).containsPattern(line);
    return new Model(module, label, line.matcher(configuration).replaceFirst("$1" + value));
  }

  /** With one invariant or property alone, of those that the configuration has. */
  Model checking(String promise) {
    Pattern property = Pattern.compile("(?m)^PROPERTY " + promise + "$");
    assertThat(configuration).contains(promise);
    String kind = property.matcher(configuration).find() ? "PROPERTY " : "INVARIANT ";
    String rest = PROMISES.matcher(configuration).replaceAll("");
    return new Model(module, label, rest + kind + promise + "\n");
  }

  Model labelled(String other) {
    return new Model(module, other, configuration);
  }

  /** The mistakes that the module knows. */
  Set<String> mutants() {
    return SWITCH
        .matcher(read(module + ".tla"))
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The invariants and properties of the configuration. */
  Set<String> promises() {
    return PROMISES
        .matcher(configuration)
        .results()
        .flatMap(line -> Pattern.compile("\\s+").splitAsStream(line.group().strip()).skip(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String read(String file) {
    try {
      return Files.readString(FOLDER.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return module + ", " + label;
  }
}

package io.pawl.bench;

import io.pawl.bench.report.Section;
import java.util.List;
import java.util.function.Consumer;

/** What {@code bench NAME} measures. */
public interface Suite {

  String name();

  /** One line for the help. */
  String purpose();

  /** Measures; {@code progress} hears what is going on. */
  List<Section> measure(Settings settings, Consumer<String> progress);
}

package io.pawl.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

/** The suites on the class path. */
public final class Suites {

  private Suites() {}

  static List<Suite> all() {
    List<Suite> all = new ArrayList<>();
    ServiceLoader.load(SuiteSource.class).forEach(source -> all.addAll(source.suites()));
    all.sort(Comparator.comparing(Suite::name));
    return all;
  }

  public static Suite named(String name) {
    List<Suite> all = all();
    return all.stream()
        .filter(suite -> suite.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "suite '"
                        + name
                        + "' is unknown; known are "
                        + String.join(", ", all.stream().map(Suite::name).toList())));
  }
}

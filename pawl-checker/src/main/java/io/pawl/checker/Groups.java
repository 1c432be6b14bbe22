package io.pawl.checker;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Splits a history by name, in the order in which names come first. */
final class Groups {

  private Groups() {}

  static <T> Map<String, List<T>> by(Function<T, String> name, List<T> all) {
    Map<String, List<T>> groups = new LinkedHashMap<>();
    for (T one : all) {
      groups.computeIfAbsent(name.apply(one), n -> new ArrayList<>()).add(one);
    }
    return groups;
  }
}

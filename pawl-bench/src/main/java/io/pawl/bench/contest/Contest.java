package io.pawl.bench.contest;

import io.pawl.bench.report.Target;
import java.util.List;
import java.util.Map;

/**
 * Rivals under one load.
 *
 * @param ownLoads of rivals that set the measure for the others, under a load of their own
 */
public record Contest(
    String title,
    Load load,
    List<String> rivals,
    List<Target> targets,
    Map<String, Load> ownLoads) {

  /** All rivals are under the same load. */
  public Contest(String title, Load load, List<String> rivals, List<Target> targets) {
    this(title, load, rivals, targets, Map.of());
  }
}

package io.pawl.models;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What every model owes: its promises hold in all states, what matters happens in some state, and
 * each mistake that the module can make breaks a promise. A mutant is the module itself with one
 * constant changed, so that model and mutant cannot drift apart.
 */
@TestInstance(Lifecycle.PER_CLASS)
abstract class ModelContract {

  private final List<Model> models;
  private final Set<String> sights;
  private final Map<String, String> broken;

  /**
   * @param models one module in one or more configurations
   * @param sights what happens in some state of some of them
   * @param broken for each mistake the invariant or property that it breaks
   */
  ModelContract(List<Model> models, Set<String> sights, Map<String, String> broken) {
    this.models = models;
    this.sights = sights;
    this.broken = broken;
  }

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES) // for all configurations, on a busy machine
  void promisesHoldInEveryStateAndNothingThatMattersIsMissing() throws Exception {
    Set<String> seen = new TreeSet<>();
    for (Model model : models) {
      Tlc.Finding found = explore(model);
      assertThat(found.refuted()).as(found.output()).isNull();
      seen.addAll(found.seen());
    }
    assertThat(seen).isEqualTo(new TreeSet<>(sights));
  }

  @ParameterizedTest(name = "{0} breaks {1}")
  @MethodSource("mistakes")
  void aMistakeIsRefuted(String mistake, String promise) throws Exception {
    Tlc.Finding found = explore(whereItShows(mistake).mutant(mistake).checking(promise));
    assertThat(found.refuted()).as(found.output()).isEqualTo(promise);
  }

  @Test
  void noMistakeAndNoPromiseIsLeftOut() {
    assertThat(models.get(0).mutants()).isEqualTo(new TreeSet<>(broken.keySet()));
    assertThat(models.get(0).promises()).isEqualTo(new TreeSet<>(broken.values()));
  }

  /** The configuration in which a mistake shows: the first, unless overridden. */
  Model whereItShows(String mistake) {
    return models.get(0);
  }

  final Stream<Arguments> mistakes() {
    return broken.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(entry -> Arguments.of(entry.getKey(), entry.getValue()));
  }

  private static Tlc.Finding explore(Model model) throws IOException, InterruptedException {
    Tlc.Finding found = Tlc.explore(model);
    String promise = found.refuted();
    String result = promise == null ? "holds" : "breaks " + promise;
    System.out.printf(
        "%s: %s, %,d distinct states, %.1f s%n", model, result, found.states(), found.seconds());
    return found;
  }
}

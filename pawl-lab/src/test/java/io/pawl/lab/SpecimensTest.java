package io.pawl.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.lab.report.Result;
import io.pawl.lab.report.Story;
import io.pawl.lab.stage.Ground;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Verdict;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each specimen fails in the way that the lab says, on a real server; Pawl does not. */
class SpecimensTest {

  private static final Ground ground = new Ground();
  private static final Play play = new Play(ground);

  @AfterAll
  static void close() {
    ground.close();
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({
    "S1, LOCKED_FOR_EVER",
    "S2, LOCKED_FOR_EVER",
    "S3, TWO_HOLDERS",
    "S4, TWO_HOLDERS",
    "S5, TWO_HOLDERS",
    "S6, TWO_HOLDERS",
    "S7, TWO_HOLDERS",
    "S8, TWO_HOLDERS",
    "S9, LOCKED_FOR_EVER",
    "S10, TWO_HOLDERS",
    "S11, TWO_HOLDERS",
    "S12, OVERSOLD",
    "S13, DEADLOCK",
    "S14, COSTLY",
    "S15, COSTLY",
    "S16, LOCKED_FOR_EVER",
    "S17, COSTLY",
    "S18, COSTLY",
    "S19, TWO_HOLDERS",
    "S20, TWO_HOLDERS",
    "S21, NOT_REPRODUCED",
    "S22, NOT_REPRODUCED",
    "S23, STALLED",
    "S24, LEFT_BEHIND",
    "S25, LOCKED_FOR_EVER",
    "S26, NOT_REPRODUCED",
    "S27, TWO_HOLDERS",
    "S28, NOT_REPRODUCED",
    "S29, TWO_HOLDERS",
    "S30, TWO_HOLDERS",
  })
  void failsAsTheLabSaysAndPawlStands(String id, Verdict verdict) {
    Result result = play.of(Specimens.named(id));
    assertThat(result.algorithm().finding().verdict()).as(Story.of(result)).isEqualTo(verdict);
    assertThat(result.pawl().finding().verdict()).as(Story.of(result)).isEqualTo(Verdict.STANDS);
    assertThat(result.isAsPromised()).isTrue();
  }

  @Test
  void everySpecimenHasItsFailureNamedAbove() throws NoSuchMethodException {
    String[] rows =
        getClass()
            .getDeclaredMethod("failsAsTheLabSaysAndPawlStands", String.class, Verdict.class)
            .getAnnotation(CsvSource.class)
            .value();
    assertThat(Specimens.all())
        .extracting(Specimen::id)
        .containsExactlyElementsOf(Arrays.stream(rows).map(row -> row.split(",")[0]).toList());
  }
}

package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.counter.OperationId;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FiguresTest {

  @Test
  void eachRefusalOfACounterIsCountedAndNothingElse() {
    try (Pawl pawl = Pawl.connect("memory:")) {
      Counter stock = pawl.counter("stock");
      stock.add(1);
      assertThat(pawl.figures()).containsEntry("counters.refused", 0L);

      stock.tryTake(2);
      stock.async().tryTake(2).join();
      pawl.tryTakeAll(Map.of("stock", 2L, "other", 1L), OperationId.of("basket"));

      assertThat(pawl.figures()).containsEntry("counters.refused", 3L);
    }
  }
}

package io.pawl.checker;

import io.pawl.checker.Take.Outcome;
import org.jspecify.annotations.Nullable;

/** A counter, from which is taken one after another. */
final class CounterModel implements Model<Long, Take> {

  private final Stock stock;

  CounterModel(Stock stock) {
    this.stock = stock;
  }

  @Override
  public Long initial() {
    return stock.before();
  }

  @Override
  public @Nullable Long after(Long value, Take take) {
    long left = value - take.amount();
    if (take.outcome() == Outcome.REFUSED) {
      boolean isTold = take.hasValue() && take.value() != value;
      return left >= stock.floor() || isTold ? null : value;
    }
    boolean isTold = take.outcome() == Outcome.APPLIED && take.hasValue() && take.value() != left;
    return left < stock.floor() || isTold ? null : Long.valueOf(left);
  }
}

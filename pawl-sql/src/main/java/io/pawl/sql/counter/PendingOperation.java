package io.pawl.sql.counter;

import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.Operation;
import io.pawl.spi.rule.CounterRule;
import io.pawl.spi.rule.CounterState;
import io.pawl.sql.transaction.Pending;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What one caller wants done with counters. */
public abstract class PendingOperation<T> extends Pending<T> {

  /** Whether counters that it names are made where they are missing. */
  boolean creates() {
    return false;
  }

  /** The id whose lines it needs; null where it needs none. */
  @Nullable String id() {
    return null;
  }

  /** Whether the id may be known. */
  boolean mayBeKnown() {
    return false;
  }

  /**
   * Whether its id, if it is known after all, shows as a duplicate key of what is written, so that
   * nobody needs to look for it first.
   */
  boolean entersItsId() {
    return false;
  }

  /** Whether {@code counter} may have forgotten its id: then nothing is written. */
  boolean mayBeForgottenBy(CounterView counter) {
    return false;
  }

  /**
   * Whether it may be decided on a row that is only guessed, which is in no doubt once it was
   * written: it enters its id, and concerns neither reservations nor several counters.
   */
  public boolean mayBeGuessed() {
    return false;
  }

  /** What it is about, decided on states that may lack counters that are not made. */
  public abstract T decide(Map<String, CounterState> states, long now);

  /** A request to the rule. */
  public static final class Change extends PendingOperation<CounterAnswer> {

    private final CounterRequest request;

    public Change(CounterRequest request) {
      this.request = request;
    }

    @Override
    public Set<String> names() {
      return request.operations().keySet();
    }

    @Override
    boolean creates() {
      return true;
    }

    @Override
    String id() {
      return request.id();
    }

    @Override
    boolean mayBeKnown() {
      return request.recordsRefusal();
    }

    @Override
    boolean entersItsId() {
      return request.operations().values().stream().allMatch(Operation.Entering.class::isInstance);
    }

    @Override
    public boolean mayBeGuessed() {
      return request.operations().size() == 1
          && entersItsId()
          && !(request.operations().get(request.operations().firstKey())
              instanceof Operation.Reserve);
    }

    @Override
    boolean mayBeForgottenBy(CounterView counter) {
      return request.issuedMillis() < counter.keptFromMillis();
    }

    @Override
    public CounterAnswer decide(Map<String, CounterState> states, long now) {
      return CounterRule.apply(states, request, now);
    }
  }

  /** A look at one counter. */
  public static final class Look extends PendingOperation<Optional<CounterView>> {

    private final String counter;

    public Look(String counter) {
      this.counter = counter;
    }

    @Override
    public Set<String> names() {
      return Set.of(counter);
    }

    @Override
    public Optional<CounterView> decide(Map<String, CounterState> states, long now) {
      CounterState state = states.get(counter);
      if (state != null) {
        CounterRule.settle(state, now);
      }
      return Optional.ofNullable(state).map(CounterState::view);
    }
  }

  /**
   * Refuses operations first used before a time from then on, whose lines may then be deleted; says
   * whether there is such a counter.
   */
  public static final class KeepFrom extends PendingOperation<Boolean> {

    private final String counter;
    private final long beforeMillis;

    public KeepFrom(String counter, long beforeMillis) {
      this.counter = counter;
      this.beforeMillis = beforeMillis;
    }

    @Override
    public Set<String> names() {
      return Set.of(counter);
    }

    @Override
    public Boolean decide(Map<String, CounterState> states, long now) {
      CounterState state = states.get(counter);
      if (state == null) {
        return false;
      }
      state.keepFrom(beforeMillis, now);
      return true;
    }
  }
}

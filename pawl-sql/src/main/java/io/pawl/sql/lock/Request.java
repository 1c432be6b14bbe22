package io.pawl.sql.lock;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.rule.LockState;
import io.pawl.sql.transaction.Pending;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** What one caller wants decided, on the rows that it names. */
public abstract class Request<T> extends Pending<T> {

  /** One about {@code lock} alone. */
  public static <T> Request<T> about(String lock, BiFunction<LockState, Long, T> verb) {
    return about(lock, List.of(), verb);
  }

  /** One about {@code claims} of {@code lock}. */
  static <T> Request<T> about(
      String lock, Collection<ClaimId> claims, BiFunction<LockState, Long, T> verb) {
    List<String> locks = List.of(lock);
    return new Request<>() {
      @Override
      public List<String> names() {
        return locks;
      }

      @Override
      public T decide(SortedMap<String, LockState> states, long now) {
        return verb.apply(Objects.requireNonNull(states.get(lock)), now);
      }

      @Override
      public Collection<ClaimId> claims() {
        return claims;
      }
    };
  }

  /** The locks whose rows it reads and changes. */
  @Override
  public abstract List<String> names();

  /**
   * The grant rule at work.
   *
   * @param states by name; where it reads several locks, those are missing whose rows somebody else
   *     keeps locked, or cannot be read
   */
  public abstract T decide(SortedMap<String, LockState> states, long now);

  /** Whether it probably changes nothing, so that it is decided by rows that were only read. */
  public boolean seldomChanges() {
    return false;
  }

  /**
   * Whether it does no more, where its lock is busy, than to let an exclusive claim join the queue
   * or turn it away.
   */
  public boolean joinsWhereBusy() {
    return false;
  }

  /** The claim that alone is concerned, for {@link #shortcut}. */
  public @Nullable Claim claim() {
    return null;
  }

  /** Those whose standing it tells. */
  public Collection<ClaimId> claims() {
    Claim claim = claim();
    return claim == null ? List.of() : List.of(claim.id());
  }

  /** How it may be decided without reading, given what is known of its lock. */
  public @Nullable Shortcut shortcut(Shortcut.Known known) {
    return null;
  }

  /** A shortcut has been taken, and this was its answer. */
  @SuppressWarnings("unchecked") // the request made the shortcut, answer and all
  final void decided(Shortcut shortcut) {
    decide(() -> (T) shortcut.answer());
  }

  /** Whether it is about locks, and about none but {@code these}. */
  final boolean isOnlyAbout(Set<String> these) {
    return !names().isEmpty() && these.containsAll(names());
  }

  /**
   * @param unusable what is wrong with names that {@code states} lacks; it fails the requests that
   *     are about nothing else
   */
  final void decideWithin(
      SortedMap<String, LockState> states, long now, Map<String, RuntimeException> unusable) {
    decide(
        () -> {
          if (isOnlyAbout(unusable.keySet())) {
            throw Objects.requireNonNull(unusable.get(names().get(0)));
          }
          return decide(states, now);
        });
  }
}

package io.pawl;

import io.pawl.engine.Engine;
import io.pawl.error.StoreException;
import io.pawl.options.LockOptions;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.LockName;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * Elects one leader among candidates in any number of processes: the holder of a lock. Obtained
 * from {@link Pawl#election}; cheap, thread-safe, holds nothing itself.
 *
 * <p>Bodies of two leaders do not overlap, as long as a body that is interrupted ends within {@link
 * #grace}: it is interrupted so long before its lease can pass to another, and the lease is given
 * back when it has ended, not before. Not even then is it certain after a pause of the process, or
 * when the lock is taken away by hand or lost by the store; the token, larger for each leader, is
 * what a resource can rely on.
 */
public final class Election {

  /**
   * Who leads.
   *
   * @param description as given to {@link #stand}
   * @param host the machine's name
   * @param pid the process
   * @param application the name of the program, may be empty
   * @param token the fencing token of the leadership
   * @param since when it began, by the store's clock
   */
  public record Candidate(
      String description, String host, long pid, String application, long token, Instant since) {}

  private final Engine engine;
  private final Candidacies candidacies;
  private final String name;
  private final LockOptions options;
  private final Duration grace;

  Election(Engine engine, Candidacies candidacies, String name, LockOptions options) {
    this(
        engine,
        candidacies,
        LockName.check(name),
        options.strictOrder(),
        options.lease().dividedBy(3));
  }

  private Election(
      Engine engine, Candidacies candidacies, String name, LockOptions options, Duration grace) {
    this.engine = engine;
    this.candidacies = candidacies;
    this.name = name;
    this.options = options;
    this.grace = grace;
  }

  /** The election's name, which is that of its lock. */
  public String name() {
    return name;
  }

  /**
   * The same election with another time for the leader's body to end in when renewals fail: it is
   * interrupted so long before the lease's local deadline.
   *
   * @param time 0 to half of the lease; a third of it unless set
   */
  public Election grace(Duration time) {
    if (time.isNegative() || time.compareTo(options.lease().dividedBy(2)) > 0) {
      throw new IllegalArgumentException(
          "grace: "
              + time
              + " is not between 0 and half of the lease of "
              + options.lease()
              + "; lengthen the lease");
    }
    return new Election(engine, candidacies, name, options, time);
  }

  /**
   * Stands for election until {@link Candidacy#close}, on a thread of its own that runs {@code
   * body} whenever this candidate leads. The body should go on for as long as it wants to lead, and
   * end when it is interrupted. When it
   *
   * <ul>
   *   <li>returns by itself, the candidacy ends;
   *   <li>was interrupted, since its lease is about to be lost or it {@linkplain Candidacy#resign
   *       resigned}, the candidate stands again, behind the others;
   *   <li>throws, that is logged, and the candidate stands again after a pause of 1 s, which
   *       doubles up to 30 s each time that happens in a row.
   * </ul>
   *
   * A store that fails is asked again in the same way.
   *
   * @param description of this candidate, for people: see {@link #leader}
   */
  public Candidacy stand(String description, LeaseBody<Exception> body) {
    DistributedLock lock = new DistributedLock(engine, name, options.note(description));
    return candidacies.add(new Candidacy(engine, candidacies, lock, grace, body));
  }

  /**
   * Who leads now, also for those who do not stand. One round trip. The answer is for people and
   * for finding a server to talk to; when it arrives, another may lead.
   *
   * @throws UnsupportedOperationException for a store that cannot be looked into
   * @throws StoreException when the store cannot be asked
   */
  public Optional<Candidate> leader() {
    try {
      return askForLeader().toCompletableFuture().join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw e;
    }
  }

  /**
   * Tells {@code listener} who leads, first and whenever that has changed, until the result is
   * closed. It asks the store {@code every} so often: one round trip each, so a leadership shorter
   * than that may be missed. The listener is called on a worker of Pawl's, one call at a time.
   * While the store cannot be asked, nothing is told.
   *
   * @param every 100 ms to 1 day
   * @throws UnsupportedOperationException for a store that cannot be looked into
   */
  public LeaderWatch watch(Duration every, Consumer<Optional<Candidate>> listener) {
    inspectable();
    return new LeaderWatch(engine, this::askForLeader, every, listener);
  }

  private CompletionStage<Optional<Candidate>> askForLeader() {
    return inspectable().show(name).thenApply(view -> view.flatMap(Election::leaderOf));
  }

  private Inspectable inspectable() {
    if (engine.store() instanceof Inspectable store) {
      return store;
    }
    throw new UnsupportedOperationException(
        engine.store().describe() + " cannot say who leads '" + name + "'");
  }

  private static Optional<Candidate> leaderOf(LockView view) {
    return view.holders().stream().findFirst().map(Election::candidate);
  }

  private static Candidate candidate(ClaimView claim) {
    return new Candidate(
        claim.holder().note(),
        claim.holder().host(),
        claim.holder().pid(),
        claim.holder().application(),
        claim.token(),
        claim.since());
  }

  @Override
  public String toString() {
    return "Election[" + name + " on " + engine.store().describe() + "]";
  }
}

package io.pawl;

import io.pawl.engine.Engine;
import io.pawl.engine.Lifecycle;
import io.pawl.engine.Retry;
import io.pawl.error.StoreException;
import io.pawl.options.LockOptions;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.LockName;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * Elects one leader among candidates in any number of processes: the leader is the holder of a
 * lock. Obtained from {@link Pawl#election}. The object is cheap and thread-safe, and holds nothing
 * itself.
 *
 * <p>The bodies of two leaders do not overlap, as long as a body that is interrupted ends within
 * {@link #grace}: it is interrupted so long before its lease can pass to another candidate, and the
 * lease is given back when the body has ended, not before. They can overlap after a pause of the
 * process, or when the lock is taken away by hand or lost by the store. What a resource can rely on
 * is the token, which is larger for each leader.
 */
public final class Election {

  /**
   * A leader.
   *
   * @param description as given to {@link #stand}
   * @param host the machine's name
   * @param pid the process id
   * @param application the name of the program, may be empty
   * @param token the fencing token of the leadership
   * @param since when the leadership began, by the store's clock
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

  /** Returns the election's name, which is that of its lock. */
  public String name() {
    return name;
  }

  /**
   * Returns the same election with another grace: the time that the leader's body has to end when
   * renewals fail. The body is interrupted so long before its lease is lost.
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
   * body} whenever this candidate leads. It inherits what the calling thread hands on: its context
   * class loader and inheritable thread-locals. The body should go on for as long as it wants to
   * lead, and end when it is interrupted. When it
   *
   * <ul>
   *   <li>returns by itself, the candidacy ends;
   *   <li>was interrupted, since its lease is about to be lost or it {@linkplain Candidacy#resign
   *       resigned}, and returns or throws {@link InterruptedException} or {@link
   *       io.pawl.error.LeaseLostException}, the candidate stands again, behind the others;
   *   <li>throws anything else, the exception is logged, and the candidate stands again after a
   *       pause of 1 s, which doubles up to 30 s each time that happens in a row.
   * </ul>
   *
   * After a failure of the store the candidate asks again in the same way.
   *
   * @param description of this candidate, for people: see {@link #leader}
   */
  public Candidacy stand(String description, LeaseBody<Exception> body) {
    DistributedLock lock = new DistributedLock(engine, name, options.note(description));
    return candidacies.add(new Candidacy(engine, candidacies, lock, options.lease(), grace, body));
  }

  /**
   * Returns who leads now, also for clients without a candidate. One round trip, repeated for the
   * client's patience; not interruptible. The answer is for people and for finding a server to talk
   * to; when it arrives, another candidate may lead.
   *
   * @throws UnsupportedOperationException when the store cannot be inspected
   * @throws StoreException when the store fails, or has not answered for the client's patience and
   *     its {@linkplain io.pawl.spi.LockStore#answerTime answer time}, or for one answer of a JDBC
   *     driver if that takes longer
   */
  public Optional<Candidate> leader() {
    inspectable();
    return Retry.ask(engine, name, this::askForLeader);
  }

  /**
   * Tells {@code listener} who leads, at first and whenever that has changed, until the returned
   * watch is closed. The watch asks the store at intervals of {@code every}, one round trip each,
   * so a leadership shorter than that may be missed. The listener is called on the client's
   * executor, one call at a time. While the store cannot be asked, the listener is told nothing.
   *
   * @param every 100 ms to 1 day
   * @throws UnsupportedOperationException when the store cannot be inspected
   * @throws IllegalStateException if the client is closed
   */
  public LeaderWatch watch(Duration every, Consumer<Optional<Candidate>> listener) {
    if (engine.lifecycle().isClosed()) {
      throw Lifecycle.closedException(name);
    }
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

package io.pawl.quorum;

import io.pawl.concurrent.Futures;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.QuorumNode;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** One client's connection to a server in a {@link World}: requests arrive in order, and late. */
final class SimulatedNode implements QuorumNode {

  /** The server: the grant rule on maps, with tokens that follow its clock if it has one. */
  static final class Server {
    private final World world;
    private final String name;
    private final LongSupplier clockTokens;
    private final Map<String, LockState> locks = new HashMap<>();
    private final Map<ClaimId, Bell> bells = new HashMap<>();
    int requests;

    /** By how many ns each answer comes later than a bell that rings at the same time. */
    LongSupplier answersAreLater = () -> 0;

    /** By how many ns each bell comes later than an answer that is given at the same time. */
    LongSupplier bellsAreLater = () -> 0;

    /** Whether there is no connection to it: nothing is sent. */
    boolean away;

    /** Whether its connections end before each reply: requests arrive, and fail then. */
    boolean losesReplies;

    /** Whether it stands still: a request that arrives fails later, unanswered. */
    boolean standsStill;

    /** Whether a withdrawal may arrive before what its client has asked for on other threads. */
    boolean withdrawalsOvertake;

    /** Whether an attempt may arrive before others that its client has sent on other threads. */
    boolean attemptsOvertake;

    /** Whether it refuses attempts, as for a while one does that was started from a file. */
    boolean abstains;

    /**
     * @param clockTokens the token that the clock shows, 0 where they are counted one by one
     */
    Server(World world, String name, LongSupplier clockTokens) {
      this.world = world;
      this.name = name;
      this.clockTokens = clockTokens;
    }

    private LockState state(String lock) {
      LockState known = locks.get(lock);
      LockState now =
          known == null
              ? new LockState(lock, clockTokens.getAsLong())
              : new LockState(
                  lock,
                  known.kind(),
                  Math.max(known.lastToken(), clockTokens.getAsLong()),
                  known.holders(),
                  known.waiters(),
                  known.withdrawn());
      locks.put(lock, now);
      return now;
    }

    private long millis() {
      return world.now() / 1_000_000;
    }

    /** As if an operator had ended all that it has of a lock. */
    void forget(String lock) {
      locks.remove(lock);
    }

    boolean isHeld(String lock) {
      return !state(lock).holders().isEmpty();
    }

    /** Whether anybody holds or waits whose lease is not over. */
    boolean isKept(String lock) {
      LockState state = state(lock);
      GrantRule.settle(state, millis());
      return !state.holders().isEmpty() || !state.waiters().isEmpty();
    }

    boolean isHeldBy(String lock, Claim claim) {
      return state(lock).holders().stream()
          .anyMatch(entry -> QuorumLocks.engineId(entry.id()).equals(claim.id()));
    }

    private void ring(LockState state) {
      for (LockState.Grant grant : state.takeGrants()) {
        Bell bell = bells.remove(grant.id());
        if (bell != null) {
          bell.ring(grant.held());
        }
      }
    }
  }

  /** As Redis has it by default. */
  private static final long TIMEOUT_NANOS = 2_000_000_000;

  private final World world;
  private final Server server;
  private final LongSupplier delay;
  private long lastArrival;
  private long lastReply;

  /**
   * @param delay how long a message is on its way, in ns
   */
  SimulatedNode(World world, Server server, LongSupplier delay) {
    this.world = world;
    this.server = server;
    this.delay = delay;
  }

  /** What a client has over {@code stores}. */
  static QuorumLocks locks(
      World world, List<SimulatedNode> stores, QuorumOptions options, long seed) {
    List<Node> nodes = new ArrayList<>();
    for (SimulatedNode store : stores) {
      String name = store.describe();
      nodes.add(new Node(name, () -> store, world.time(), new Lanes(name)));
    }
    nodes.forEach(Node::open);
    return new QuorumLocks(nodes, options, world.time(), new Random(seed));
  }

  private <T> CompletionStage<T> call(Supplier<T> verb) {
    return call(verb, false);
  }

  private <T> CompletionStage<T> call(Supplier<T> verb, boolean overtakes) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    if (server.away) {
      answer.completeExceptionally(
          StoreUnavailableException.unsent(server.name + " is away", null));
      return answer;
    }
    long arrival = world.now() + delay.getAsLong();
    if (!overtakes) {
      arrival = Math.max(lastArrival + 1, arrival);
      lastArrival = arrival;
    }
    world.later(
        arrival - world.now(),
        () -> {
          if (server.standsStill) {
            world.later(TIMEOUT_NANOS, () -> answer.completeExceptionally(unanswered()));
            return;
          }
          server.requests++;
          CompletionStage<T> answered = resultOf(verb);
          CompletionStage<T> result =
              server.losesReplies ? CompletableFuture.failedFuture(unanswered()) : answered;
          reply(server.answersAreLater.getAsLong(), () -> Futures.follow(answer, result));
        });
    return answer;
  }

  private StoreUnavailableException unanswered() {
    return new StoreUnavailableException(server.name + " gave no answer", null);
  }

  private static <T> CompletionStage<T> resultOf(Supplier<T> verb) {
    try {
      return CompletableFuture.completedFuture(verb.get());
    } catch (StoreUnavailableException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private void reply(long later, Runnable hear) {
    lastReply = Math.max(lastReply + 1, world.now() + delay.getAsLong());
    world.later(lastReply + later - world.now(), hear);
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    return call(
        () -> {
          if (server.abstains) {
            throw StoreUnavailableException.unsent(server.name + " does not vote yet", null);
          }
          LockState state = server.state(claim.lock());
          Standing standing = GrantRule.attempt(state, claim, server.millis());
          if (standing instanceof Standing.Waiting) {
            server.bells.put(
                claim.id(), rung -> reply(server.bellsAreLater.getAsLong(), () -> bell.ring(rung)));
          }
          server.ring(state);
          return standing;
        },
        server.attemptsOvertake);
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    List<Claim> all = List.copyOf(claims);
    return call(
        () -> {
          Map<ClaimId, Standing> standings = new HashMap<>();
          for (Claim claim : all) {
            LockState state = server.state(claim.lock());
            standings.put(claim.id(), GrantRule.renew(state, claim.id(), server.millis()));
            server.ring(state);
          }
          return standings;
        });
  }

  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    return call(
        () -> {
          LockState state = server.state(claim.lock());
          GrantRule.withdraw(state, claim, server.millis());
          server.ring(state);
          return null;
        },
        server.withdrawalsOvertake);
  }

  @Override
  public void joinQuorum(Duration longestLease) {}

  @Override
  public CompletionStage<Incarnation> incarnation() {
    return CompletableFuture.completedFuture(
        new Incarnation(server.name, Duration.ZERO, 0, true, 0));
  }

  @Override
  public CompletionStage<Void> raise(Incarnation known, long above) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletionStage<Void> trust() {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public String describe() {
    return server.name;
  }

  @Override
  public void close() {}
}

package io.pawl.quorum;

import io.pawl.concurrent.SystemTime;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Diagnosable;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LockStore;
import io.pawl.spi.Measured;
import io.pawl.spi.QuorumNode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Locks and read-write locks of which a majority of independent stores, the <em>nodes</em>,
 * decides: Redlock, with fencing tokens that only grow. It stands the loss of any minority. See
 * docs/QUORUM.md.
 *
 * <p><b>One holder.</b> A claim is told to be held when a majority of nodes said so to requests
 * that were sent after the engine's call. Each keeps it for a lease from then, by its own clock.
 * Two majorities have a node in common, and that node holds for one of the two at a time. A node
 * that forgets what it granted would break this; so a server that was started anew does not vote
 * for the longest lease, by which time all that it may have forgotten has run out, and until {@link
 * Rejoin} has raised its tokens. See {@link QuorumNode}.
 *
 * <p><b>Tokens only grow.</b> The largest token among a majority's grants would not do: the next
 * majority may lack the node that had it. Instead <em>a claim is granted under tokens that each
 * node of a majority has granted to it itself</em>. Where nodes answer different tokens, the claim
 * asks them again, while it holds them, for tokens above the largest, and is granted when a
 * majority has answered the same. Let g and h be two grants of a lock, not both shared. Some node n
 * voted for both, under g's tokens and under h's; it held for one of the two first, say g; then n's
 * tokens for h are larger than all of g's, and these are the tokens of the grants. If h began after
 * g's lease had ended, n held for g first: at no node can h's hold have ended before g's began,
 * since the holds of a grant at its majority last as long as the lease. The same node shows that
 * two grants never share a token, shared or not. A node that was behind is raised by its own
 * answer. A node that a holder takes back counts when its own tokens are above the grant's: whoever
 * is granted there later has larger ones still. This needs a majority at all times: a grant that
 * none has kept for a moment is over, though the engine, which has not heard of it, asks again.
 *
 * <p><b>Cost.</b> A free lock is taken in one trip to all nodes at once and given back in one, each
 * as fast as the fastest majority and the lock's seat. A grant from the queue costs one more trip,
 * for the other nodes; so does a first grant on nodes whose tokens follow clocks. Nothing waits for
 * a minority, but for the seat, as long as a prompt answer takes.
 *
 * <p><b>Order.</b> A claim stands in line at one node, its seat, the same for all clients while
 * these find the same nodes prompt; who is granted there asks the others for theirs, and nobody is
 * granted without. So the order of service is that node's, first come, first served, until it falls
 * silent: then the next one's. Clients that differ meanwhile give way after a short random pause.
 *
 * <p>Thread-safe. No verb blocks. Stages complete on threads of the nodes.
 */
public final class QuorumStore implements QuorumNode.Quorum, Inspectable, Diagnosable, Measured {

  private static final AtomicInteger stores = new AtomicInteger();
  private static final long SWEEP_NANOS = 30_000_000_000L;

  /** Smallest number of nodes of which one may fail. */
  private static final int LEAST_NODES = 3;

  private final List<Node> nodes;
  private final boolean ownsNodes;
  private final QuorumOptions options;
  private final SystemTime time;
  private final QuorumLocks locks;
  private final SecondLook looks;
  private final QuorumInspection inspection;

  private QuorumStore(
      List<String> descriptions,
      List<Supplier<QuorumNode>> openers,
      boolean ownsNodes,
      QuorumOptions options) {
    String name = "pawl-quorum-" + stores.incrementAndGet();
    this.ownsNodes = ownsNodes;
    this.options = options;
    this.time = new SystemTime(name + "-timer");
    this.nodes = new ArrayList<>();
    for (int i = 0; i < openers.size(); i++) {
      String prefix = name + "-node-" + (i + 1) + "-";
      nodes.add(new Node(descriptions.get(i), openers.get(i), time, new Lanes(prefix)));
    }
    Rejoin rejoin = new Rejoin(List.copyOf(nodes), time, options.nodeTimeout().toNanos());
    nodes.forEach(node -> node.whenRefused(rejoin::lookSoon));
    this.locks = new QuorumLocks(List.copyOf(nodes), options, time, new Random());
    this.looks = new SecondLook(time, options.promptNanos());
    this.inspection = new QuorumInspection(List.copyOf(nodes), looks);
  }

  /**
   * Returns a store over nodes that stay the caller's: closing it leaves them open. Each is another
   * service, which fails by itself.
   *
   * @param nodes an odd number of {@link QuorumNode}s, at least 3; the same for all clients
   * @throws IllegalArgumentException for other numbers and other stores
   * @throws StoreConfigurationException where two nodes are the same server
   */
  public static QuorumStore over(List<? extends LockStore> nodes, QuorumOptions options) {
    for (LockStore each : nodes) {
      if (each instanceof MemoryStore || !(each instanceof QuorumNode)) {
        throw new IllegalArgumentException(
            each.describe()
                + " cannot be a node of a quorum: name Redis, MySQL, MariaDB, PostgreSQL or"
                + " SQLite");
      }
    }
    List<Supplier<QuorumNode>> openers = new ArrayList<>();
    nodes.forEach(each -> openers.add(() -> joined((QuorumNode) each, options)));
    return opened(nodes.stream().map(LockStore::describe).toList(), openers, false, options);
  }

  /** Opens the nodes, which are closed with the store. A minority may be out of reach. */
  static QuorumStore owning(
      List<String> descriptions, List<Supplier<QuorumNode>> openers, QuorumOptions options) {
    List<Supplier<QuorumNode>> joining = new ArrayList<>();
    openers.forEach(opener -> joining.add(() -> openedAndJoined(opener, options)));
    return opened(descriptions, joining, true, options);
  }

  private static QuorumNode openedAndJoined(Supplier<QuorumNode> opener, QuorumOptions options) {
    QuorumNode node = opener.get();
    try {
      return joined(node, options);
    } catch (RuntimeException | Error e) {
      node.close();
      throw e;
    }
  }

  private static QuorumNode joined(QuorumNode node, QuorumOptions options) {
    node.joinQuorum(options.longestLease());
    return node;
  }

  private static QuorumStore opened(
      List<String> descriptions,
      List<Supplier<QuorumNode>> openers,
      boolean ownsNodes,
      QuorumOptions options) {
    if (openers.size() < LEAST_NODES || openers.size() % 2 == 0) {
      throw new IllegalArgumentException(
          "a quorum of "
              + openers.size()
              + " nodes; name 3, 5 or 7: an even number stands no more failures than one less");
    }
    QuorumStore store = new QuorumStore(descriptions, openers, ownsNodes, options);
    try {
      store.open();
      return store;
    } catch (RuntimeException | Error e) {
      store.close();
      throw e;
    }
  }

  private void open() {
    nodes.forEach(Node::open);
    long open = nodes.stream().filter(Node::isOpen).count();
    if (open <= nodes.size() / 2) {
      throw new StoreUnavailableException(
          describe() + ": only " + open + " of " + nodes.size() + " nodes can be reached");
    }
    List<String> same = inspection.sameServers(options.nodeTimeout());
    if (!same.isEmpty()) {
      throw new StoreConfigurationException(
          describe() + ": " + String.join("; ", same) + "; name each server once");
    }
    sweepLater();
  }

  private void sweepLater() {
    time.after(
        SWEEP_NANOS,
        () -> {
          try {
            locks.sweep();
          } finally {
            sweepLater();
          }
        });
  }

  /** One trip to all nodes at once for a free lock. */
  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    return locks.attempt(claim, bell);
  }

  @Override
  public int renewGroup(Claim claim) {
    return locks.renewGroup(claim);
  }

  /** One trip to all nodes at once. */
  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    return locks.renew(claims);
  }

  /**
   * One trip to all nodes at once; completes when a majority has confirmed. The others are told
   * until they have, or the claim has run out there.
   */
  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    return locks.withdraw(claim);
  }

  @Override
  public void together(Runnable calls) {
    together(0, calls);
  }

  private void together(int node, Runnable calls) {
    if (node == nodes.size()) {
      calls.run();
    } else {
      nodes.get(node).together(() -> together(node + 1, calls));
    }
  }

  @Override
  public Duration answerTime() {
    return options.nodeTimeout();
  }

  @Override
  public CompletionStage<List<LockView>> list(int limit) {
    return inspection.list(limit);
  }

  @Override
  public CompletionStage<Optional<LockView>> show(String lock) {
    return inspection.show(lock);
  }

  @Override
  public CompletionStage<Boolean> evict(String lock, long token) {
    return inspection.evict(lock, token);
  }

  /** A name is always a lock's: fails for a semaphore, which a quorum does not have. */
  @Override
  public CompletionStage<Boolean> setKind(String lock, Kind kind) {
    return inspection.setKind(lock, kind);
  }

  /** Returns what is to be said of the nodes together, and then the findings of each. */
  @Override
  public List<Finding> diagnose() {
    return new QuorumDoctor(nodes, inspection, options).examine();
  }

  /**
   * Declares that no node has ever granted anything that is still held, so that all vote from now
   * on: once, before the first client of a new quorum. Otherwise a new quorum, like one whose nodes
   * all lost their memory, grants nothing for {@link QuorumOptions#longestLease}. One trip to each
   * node.
   */
  @Override
  public void initialize() {
    inspection.trust(options.nodeTimeout().multipliedBy(4));
  }

  @Override
  public Map<String, Long> figures() {
    return locks.figures();
  }

  @Override
  public String describe() {
    return "quorum of " + nodes.stream().map(Node::describe).collect(Collectors.joining(", "));
  }

  /** Waits for withdrawals that are on their way, for the nodes' time-out at most. */
  @Override
  public void close() {
    long until = System.nanoTime() + options.nodeTimeout().toNanos();
    boolean interrupted = false;
    while (nodes.stream().anyMatch(Node::isWithdrawing) && System.nanoTime() - until < 0) {
      interrupted |= Thread.interrupted(); // else it would not park
      LockSupport.parkNanos(500_000);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    nodes.forEach(Node::leave);
    time.close();
    looks.close();
    locks.close();
    if (ownsNodes) {
      closeNodes(0);
    }
  }

  private void closeNodes(int from) {
    if (from < nodes.size()) {
      try {
        nodes.get(from).close();
      } finally {
        closeNodes(from + 1);
      }
    }
  }
}

package io.pawl.quorum;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.QuorumNode;
import io.pawl.spi.QuorumNode.Incarnation;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Locks as a majority of the nodes shows them. */
final class QuorumInspection {

  /** Who asks holds it shared, for a moment: whoever sees it there is the same server. */
  private static final String PRESENCE = "pawl:quorum-presence";

  private final List<Node> nodes;
  private final int majority;
  private final SecondLook looks;

  QuorumInspection(List<Node> nodes, SecondLook looks) {
    this.nodes = nodes;
    this.majority = nodes.size() / 2 + 1;
    this.looks = looks;
  }

  /** The answers of those that answer, at least a majority, in the order of the nodes. */
  private <T> CompletionStage<List<T>> ask(
      String lock, BiFunction<Node, Inspectable, CompletionStage<T>> verb) {
    List<CompletableFuture<T>> asked = new ArrayList<>();
    for (Node node : nodes) {
      asked.add(
          node.ask(
                  lock,
                  open ->
                      open instanceof Inspectable inspectable
                          ? verb.apply(node, inspectable)
                          : CompletableFuture.failedFuture(
                              new UnsupportedOperationException(
                                  node.describe() + " cannot be looked into")))
              .toCompletableFuture());
    }
    return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
        .handle(
            (nothing, error) -> {
              List<T> answers = new ArrayList<>();
              for (CompletableFuture<T> each : asked) {
                if (!each.isCompletedExceptionally()) {
                  answers.add(each.join());
                }
              }
              if (answers.size() < majority) {
                throw new StoreUnavailableException(
                    "only " + answers.size() + " of " + nodes.size() + " nodes have answered",
                    error);
              }
              return answers;
            });
  }

  CompletionStage<List<LockView>> list(int limit) {
    return list(limit, (int) Math.min(Integer.MAX_VALUE, (long) limit + nodes.size()));
  }

  private CompletionStage<List<LockView>> list(int limit, int page) {
    return looks
        .after(() -> decided(page), seen -> differing(seen.locks.values()))
        .thenCompose(
            seen -> {
              List<LockView> busy =
                  seen.locks.values().stream()
                      .map(this::merged)
                      .filter(view -> !view.holders().isEmpty() || !view.waiters().isEmpty())
                      .limit(limit)
                      .toList();
              return seen.cut && busy.size() < limit
                  ? list(limit, (int) Math.min(Integer.MAX_VALUE, 2L * page))
                  : CompletableFuture.completedFuture(busy);
            });
  }

  /**
   * What the nodes say of locks.
   *
   * @param cut whether there may be more
   */
  private record Decided(Map<String, List<LockView>> locks, boolean cut) {}

  /** The first names of each node. Whether it has one behind its full page is not known yet. */
  private CompletionStage<Decided> decided(int page) {
    return this.<List<LockView>>ask("", (node, open) -> open.list(page))
        .thenApply(
            answers -> {
              TreeMap<String, List<LockView>> byName =
                  answers.stream()
                      .flatMap(List::stream)
                      .collect(
                          Collectors.groupingBy(LockView::name, TreeMap::new, Collectors.toList()));
              return answers.stream()
                  .filter(answer -> answer.size() >= page)
                  .map(answer -> answer.get(answer.size() - 1).name())
                  .min(Comparator.naturalOrder())
                  .map(last -> new Decided(byName.headMap(last, true), true))
                  .orElseGet(() -> new Decided(byName, false));
            });
  }

  CompletionStage<Optional<LockView>> show(String lock) {
    return views(lock)
        .thenApply(
            views -> views.size() < majority ? Optional.empty() : Optional.of(merged(views)));
  }

  private CompletionStage<List<LockView>> views(String lock) {
    return looks.after(
        () ->
            this.<Optional<LockView>>ask(lock, (node, open) -> open.show(lock))
                .thenApply(answers -> answers.stream().flatMap(Optional::stream).toList()),
        views -> differing(List.of(views)));
  }

  /** Holders of which no majority has the same tokens, and what they would be shown under. */
  private Map<ClaimId, Long> differing(Collection<List<LockView>> locks) {
    Map<ClaimId, Long> differing = new HashMap<>();
    for (List<LockView> views : locks) {
      sights(views)
          .forEach(
              (id, sight) -> {
                if (sight.held.size() >= majority && !sight.isAlike(majority)) {
                  differing.put(id, sight.told(majority).token());
                }
              });
    }
    return differing;
  }

  /** One claim, as the nodes have it. */
  private static final class Sight {
    private final List<ClaimView> held = new ArrayList<>();
    private final List<ClaimView> waiting = new ArrayList<>();

    /**
     * What its holder was told: the largest token that a majority has granted or passed. A node
     * that was raised needlessly shows more, one that is not raised yet less.
     */
    private ClaimView told(int majority) {
      held.sort((one, other) -> Long.compare(other.token(), one.token()));
      return held.get(majority - 1);
    }

    private boolean isAlike(int majority) {
      return held.stream()
          .anyMatch(
              each ->
                  held.stream().filter(other -> other.token() == each.token()).count() >= majority);
    }

    /** Smaller ones than it shows were its holder's before a node was raised or taken back. */
    private boolean had(long token, int majority) {
      long told = told(majority).token();
      return held.stream().anyMatch(each -> token < told && covers(each, token));
    }
  }

  private static boolean covers(ClaimView claim, long token) {
    return claim.token() <= token && token <= claim.lastToken();
  }

  private LockView merged(List<LockView> views) {
    Map<ClaimId, Sight> sights = sights(views);
    List<ClaimView> holders = new ArrayList<>();
    List<ClaimView> waiters = new ArrayList<>();
    sights.forEach(
        (id, sight) -> {
          if (sight.held.size() >= majority) {
            holders.add(with(id, sight.told(majority), true));
          } else if (!sight.waiting.isEmpty()) { // it stands in line at one node
            waiters.add(with(id, sight.waiting.get(0), false));
          }
        });
    holders.sort((one, other) -> Long.compare(one.token(), other.token()));
    Kind kind = null;
    for (LockView view : views) {
      kind = view.kind() == null ? kind : view.kind();
    }
    return new LockView(views.get(0).name(), kind, lastToken(views), holders, waiters);
  }

  /** The largest that a majority has reached. */
  private long lastToken(List<LockView> views) {
    long[] tokens = views.stream().mapToLong(LockView::lastToken).sorted().toArray();
    return tokens[Math.max(0, tokens.length - majority)];
  }

  /** In the order of the queues: whoever more nodes have behind another comes after it. */
  private static Map<ClaimId, Sight> sights(List<LockView> views) {
    Map<ClaimId, Sight> sights = new HashMap<>();
    Map<ClaimId, Integer> places = new HashMap<>();
    for (LockView view : views) {
      int place = 0;
      for (ClaimView each : view.holders()) {
        sights.computeIfAbsent(QuorumLocks.engineId(each.id()), id -> new Sight()).held.add(each);
      }
      for (ClaimView each : view.waiters()) {
        ClaimId id = QuorumLocks.engineId(each.id());
        sights.computeIfAbsent(id, key -> new Sight()).waiting.add(each);
        places.merge(id, place++ - view.waiters().size(), Integer::sum);
      }
    }
    Map<ClaimId, Sight> ordered =
        new TreeMap<>(
            (one, other) -> {
              int byPlace = places.getOrDefault(one, 0) - places.getOrDefault(other, 0);
              return byPlace != 0 ? byPlace : one.compareTo(other);
            });
    ordered.putAll(sights);
    return ordered;
  }

  private static ClaimView with(ClaimId id, ClaimView view, boolean held) {
    return new ClaimView(
        id,
        view.mode(),
        held ? view.token() : 0,
        held ? view.lastToken() : 0,
        view.since(),
        view.until(),
        view.holder());
  }

  /**
   * Nodes may have other tokens for a hold than its holder was told. It is found by the tokens that
   * it shows, then by smaller ones of any node, and ended by its id at each. Larger ones are
   * nobody's: a node that was late has the next after the holder's.
   */
  CompletionStage<Boolean> evict(String lock, long token) {
    return views(lock)
        .thenCompose(
            views ->
                holder(views, token)
                    .map(id -> evict(lock, id))
                    .orElse(CompletableFuture.completedFuture(false)));
  }

  private Optional<ClaimId> holder(List<LockView> views, long token) {
    Map<ClaimId, Sight> sights = sights(views);
    sights.values().removeIf(sight -> sight.held.size() < majority);
    return first(sights, sight -> covers(sight.told(majority), token))
        .or(() -> first(sights, sight -> sight.had(token, majority)));
  }

  private static Optional<ClaimId> first(Map<ClaimId, Sight> sights, Predicate<Sight> wanted) {
    return sights.entrySet().stream()
        .filter(each -> wanted.test(each.getValue()))
        .map(Map.Entry::getKey)
        .findFirst();
  }

  private CompletionStage<Boolean> evict(String lock, ClaimId holder) {
    return this.<Boolean>ask(
            lock,
            (node, open) ->
                open.show(lock)
                    .thenCompose(
                        view ->
                            view.flatMap(known -> heldBy(known, holder))
                                .map(held -> open.evict(lock, held.token()))
                                .orElse(CompletableFuture.completedFuture(false))))
        .thenApply(answers -> answers.stream().filter(done -> done).count() >= majority);
  }

  private static Optional<ClaimView> heldBy(LockView view, ClaimId holder) {
    return view.holders().stream()
        .filter(each -> QuorumLocks.engineId(each.id()).equals(holder))
        .findFirst();
  }

  CompletionStage<Boolean> setKind(String lock, Kind kind) {
    if (kind.isSemaphore()) {
      return CompletableFuture.failedFuture(
          new StoreConfigurationException(
              "lock '" + lock + "': a quorum has no semaphores; keep this one in one store"));
    }
    return this.<Boolean>ask(lock, (node, open) -> open.setKind(lock, kind))
        .thenApply(answers -> answers.stream().filter(done -> done).count() >= majority);
  }

  /** Who answers at each node that does; null for the others. */
  List<@Nullable Incarnation> incarnations(Duration patience) {
    return answers((i, open) -> open.incarnation(), patience);
  }

  void trust(Duration patience) {
    List<@Nullable Boolean> done =
        answers((i, open) -> open.trust().thenApply(nothing -> true), patience);
    if (done.contains(null)) {
      throw new StoreUnavailableException("a node could not be told that it is new; do so again");
    }
  }

  /** An interrupted thread is answered all the same, and stays interrupted. */
  private <T> List<@Nullable T> answers(
      BiFunction<Integer, QuorumNode, CompletionStage<T>> verb, Duration patience) {
    List<CompletableFuture<T>> asked = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      int number = i;
      asked.add(nodes.get(i).ask(PRESENCE, open -> verb.apply(number, open)).toCompletableFuture());
    }
    List<@Nullable T> answers = new ArrayList<>();
    for (CompletableFuture<T> each : asked) {
      try {
        answers.add(Uninterruptibly.get(each, patience.toNanos()));
      } catch (ExecutionException | TimeoutException e) {
        answers.add(null);
      }
    }
    return answers;
  }

  /**
   * Which nodes are the same server under two names: those that say so, and those that see a claim
   * which was made at the other.
   */
  List<String> sameServers(Duration patience) {
    List<String> same = new ArrayList<>();
    List<@Nullable Incarnation> who = incarnations(patience);
    for (int i = 0; i < nodes.size(); i++) {
      for (int j = i + 1; j < nodes.size(); j++) {
        Incarnation one = who.get(i);
        Incarnation other = who.get(j);
        if (one != null && other != null && one.server().equals(other.server())) {
          same.add(pair(i, j));
        }
      }
    }
    return same.isEmpty() ? seenTwice(patience) : same;
  }

  private String pair(int one, int other) {
    return nodes.get(one).describe()
        + " and "
        + nodes.get(other).describe()
        + " are the same server";
  }

  private List<String> seenTwice(Duration patience) {
    Duration untilAllHaveLooked = patience.multipliedBy(nodes.size() + 1L).plusSeconds(1);
    String client = "quorum-" + Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, 36);
    List<Claim> claims = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      claims.add(
          new Claim(
              PRESENCE,
              QuorumLocks.nodeId(new ClaimId(client, i), 0),
              Mode.SHARED,
              untilAllHaveLooked,
              Duration.ZERO,
              true,
              1,
              0,
              false,
              new Holder("", 0, "", "", "")));
    }
    List<@Nullable Standing> present =
        answers((i, open) -> open.attempt(claims.get(i), standing -> {}), patience);
    List<@Nullable Optional<LockView>> views =
        answers(
            (i, open) ->
                open instanceof Inspectable inspectable
                    ? inspectable.show(PRESENCE)
                    : CompletableFuture.completedFuture(Optional.empty()),
            patience);
    List<String> same = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      Optional<LockView> view = views.get(i);
      for (int j = i + 1; view != null && view.isPresent() && j < nodes.size(); j++) {
        ClaimId other = claims.get(j).id();
        if (view.get().holders().stream().anyMatch(each -> each.id().equals(other))) {
          same.add(pair(i, j));
        }
      }
    }
    for (int i = 0; i < nodes.size(); i++) {
      Claim claim = claims.get(i);
      nodes.get(i).withdraw(present.get(i) == null ? claim.asUnsettled() : claim, Duration.ZERO);
    }
    return same;
  }
}

package io.pawl.redis;

import io.pawl.concurrent.Futures;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Many claims in as few commands as may be, all sent at once; one that fails takes no other along.
 * What the server may have meant for some of a command's claims is asked again by halves.
 */
final class Renewal {

  private final Failures failures;
  private final Function<List<Claim>, CompletableFuture<Map<ClaimId, Standing>>> ask;
  private final Map<ClaimId, Standing> standings = new HashMap<>();
  private final CompletableFuture<Map<ClaimId, Standing>> answer = new CompletableFuture<>();
  private int missing;
  private @Nullable Throwable failure;

  private Renewal(
      int commands,
      Failures failures,
      Function<List<Claim>, CompletableFuture<Map<ClaimId, Standing>>> ask) {
    this.missing = commands;
    this.failures = failures;
    this.ask = ask;
  }

  /**
   * @param group claims of the same number may share a command
   * @param ask sends one command
   * @return the standings of those claims whose command was answered; fails only where none was
   */
  static CompletableFuture<Map<ClaimId, Standing>> of(
      Collection<Claim> claims,
      int batch,
      ToIntFunction<Claim> group,
      Failures failures,
      Function<List<Claim>, CompletableFuture<Map<ClaimId, Standing>>> ask) {
    Map<Integer, List<Claim>> groups = new LinkedHashMap<>();
    for (Claim claim : claims) {
      groups.computeIfAbsent(group.applyAsInt(claim), g -> new ArrayList<>()).add(claim);
    }
    List<List<Claim>> commands = new ArrayList<>();
    for (List<Claim> all : groups.values()) {
      for (int from = 0; from < all.size(); from += batch) {
        commands.add(all.subList(from, Math.min(from + batch, all.size())));
      }
    }
    if (commands.isEmpty()) {
      return CompletableFuture.completedFuture(Map.of());
    }
    Renewal renewal = new Renewal(commands.size(), failures, ask);
    commands.forEach(renewal::send);
    return renewal.answer;
  }

  private void send(List<Claim> command) {
    Futures.caught(() -> ask.apply(command))
        .whenComplete((part, error) -> answered(command, part, error));
  }

  private void answered(
      List<Claim> command, @Nullable Map<ClaimId, Standing> part, @Nullable Throwable error) {
    int size = command.size();
    if (error != null && size > 1 && failures.mayConcernOneClaim(error)) {
      synchronized (this) {
        missing++;
      }
      send(command.subList(0, size / 2));
      send(command.subList(size / 2, size));
      return;
    }
    synchronized (this) {
      if (part != null) {
        standings.putAll(part);
      } else {
        failure = error;
      }
      if (--missing > 0) {
        return;
      }
    }
    if (standings.isEmpty() && failure != null) {
      answer.completeExceptionally(failures.of(failure));
    } else {
      answer.complete(standings);
    }
  }
}

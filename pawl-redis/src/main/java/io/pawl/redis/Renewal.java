package io.pawl.redis;

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
 */
final class Renewal {

  private final Map<ClaimId, Standing> standings = new HashMap<>();
  private final CompletableFuture<Map<ClaimId, Standing>> answer = new CompletableFuture<>();
  private int missing;
  private @Nullable Throwable failure;

  private Renewal(int commands) {
    this.missing = commands;
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
    Renewal renewal = new Renewal(commands.size());
    for (List<Claim> command : commands) {
      ask.apply(command).whenComplete(renewal::answered);
    }
    return renewal.answer;
  }

  private void answered(@Nullable Map<ClaimId, Standing> part, @Nullable Throwable error) {
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
      answer.completeExceptionally(Failures.unwrapped(failure));
    } else {
      answer.complete(standings);
    }
  }
}

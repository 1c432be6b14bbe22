package io.pawl.spring.boot;

import io.pawl.LockSnapshot;
import io.pawl.Pawl;
import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Futures;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * Shows locks at {@code /actuator/pawl}, and takes one away from its holder where {@code
 * management.endpoint.pawl.access=unrestricted} allows it.
 */
@Endpoint(id = "pawl", defaultAccess = Access.READ_ONLY)
final class PawlEndpoint {

  private static final int USUAL_LIMIT = 100;
  private static final int LARGEST_LIMIT = 1_000;
  private static final int LONGEST_SECONDS = 10;

  private final Pawl pawl;
  private final @Nullable LockStore store;

  /** A list takes a thread until the store answers, so there is one at a time. */
  private final Semaphore listing = new Semaphore(1);

  /**
   * @param store null where the application made the client itself: its locks cannot be listed
   */
  PawlEndpoint(Pawl pawl, @Nullable LockStore store) {
    this.pawl = pawl;
    this.store = store;
  }

  /**
   * What the application's client has counted, and the locks that are held or waited for.
   *
   * @param locks null where they cannot be listed
   */
  record Overview(
      String client, SortedMap<String, Long> figures, @Nullable List<LockSummary> locks) {}

  /** A lock in the list. */
  record LockSummary(String name, int holders, int waiters, long lastToken) {}

  /** What became of an eviction. */
  record Eviction(String name, long token, boolean evicted) {}

  /**
   * @param limit how many locks at most, in the order of names: 100 unless set
   */
  @ReadOperation
  Overview overview(@Nullable Integer limit) {
    return new Overview(pawl.toString(), pawl.figures(), list(limit == null ? USUAL_LIMIT : limit));
  }

  private @Nullable List<LockSummary> list(int limit) {
    if (!(store instanceof Inspectable locks)) {
      return null;
    }
    return views(locks, Math.max(1, Math.min(LARGEST_LIMIT, limit))).stream()
        .map(
            lock ->
                new LockSummary(
                    lock.name(), lock.holders().size(), lock.waiters().size(), lock.lastToken()))
        .toList();
  }

  private List<Inspectable.LockView> views(Inspectable locks, int limit) {
    CompletableFuture<List<Inspectable.LockView>> found = new CompletableFuture<>();
    if (!Uninterruptibly.tryAcquire(listing, TimeUnit.SECONDS.toNanos(LONGEST_SECONDS))) {
      throw new StoreUnavailableException("the store has yet to list its locks for others");
    }
    found.whenComplete((views, failure) -> listing.release());
    try {
      DaemonThreads.named("pawl-actuator-list", () -> follow(found, locks, limit)).start();
      return Uninterruptibly.get(found, TimeUnit.SECONDS.toNanos(LONGEST_SECONDS));
    } catch (OutOfMemoryError e) {
      found.completeExceptionally(e);
      throw e;
    } catch (TimeoutException e) {
      throw new StoreUnavailableException("the store did not list its locks", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof StoreException known) {
        throw known;
      }
      throw new StoreUnavailableException("the store did not list its locks", e.getCause());
    }
  }

  private static void follow(
      CompletableFuture<List<Inspectable.LockView>> found, Inspectable locks, int limit) {
    try {
      Futures.follow(found, locks.list(limit));
    } catch (RuntimeException | Error e) {
      found.completeExceptionally(e);
    }
  }

  /**
   * Who holds a lock and who waits for it. Slashes within its name stay as they are; over HTTP
   * those at its beginning and end are dropped, and several in a row are joined.
   */
  @ReadOperation
  LockSnapshot show(@Selector(match = Selector.Match.ALL_REMAINING) String[] name) {
    return pawl.inspect(String.join("/", name));
  }

  /**
   * Takes a lock away from the holder whose hold has this token.
   *
   * @param token that {@link #show} names
   */
  @DeleteOperation
  Eviction evict(@Selector(match = Selector.Match.ALL_REMAINING) String[] name, long token) {
    String lock = String.join("/", name);
    return new Eviction(lock, token, pawl.evict(lock, token));
  }
}

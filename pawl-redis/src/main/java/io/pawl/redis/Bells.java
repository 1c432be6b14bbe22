package io.pawl.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The claims of this store that wait, and their bells. The first of them opens a connection that
 * subscribes to one channel, this store's own; whoever never waits never subscribes.
 *
 * <p>A message may be lost at any time: nobody relies on one. Whenever a subscription has been
 * confirmed, the first as after each reconnect, all that wait are asked for once, since their bell
 * may have rung before. A bell that a renewal has to make up for casts doubt on the connection,
 * which is then replaced. In between, the engine's own renewals find what was missed.
 */
final class Bells implements AutoCloseable {

  private static final String CHANNEL = "pawl:bell:";
  private static final long RETRY_NANOS = 500_000_000;
  private static final long LONGEST_RETRY_NANOS = 30_000_000_000L;
  private static final long DOUBT_PAUSE_NANOS = 5_000_000_000L;

  private static final Logger log = LoggerFactory.getLogger(Bells.class);
  private static final SecureRandom random = new SecureRandom();

  /** A claim that waits. */
  record Waiting(Claim claim, Bell bell) {}

  private final Servers servers;
  private final Wire wire;
  private final String address;
  private final Consumer<List<Claim>> catchUp;
  private final BiConsumer<Waiting, Standing.Held> deliver;
  private final ConcurrentHashMap<ClaimId, Waiting> waiting = new ConcurrentHashMap<>();
  private final AtomicBoolean wanted = new AtomicBoolean();

  /** Whoever takes one away opens the next, so that there is one at most. */
  private final AtomicReference<@Nullable StatefulRedisPubSubConnection<String, String>>
      connection = new AtomicReference<>();

  private volatile long doubtedAt = System.nanoTime() - DOUBT_PAUSE_NANOS;
  private volatile CompletionStage<?> dialling = CompletableFuture.completedFuture(null);
  private volatile boolean closed;

  /** As Sentinels said last. */
  private volatile Servers.@Nullable Primary primary;

  /** Of {@link #connection}. */
  private volatile Servers.@Nullable Place place;

  /** How often in a row the server has refused to let us subscribe. */
  private volatile int refusals;

  /**
   * @param address of this store, where scripts of others ring
   * @param catchUp asks how claims stand whose bell may have been lost
   * @param deliver rings, once the grant is certain enough
   */
  Bells(
      Servers servers,
      Wire wire,
      String address,
      Consumer<List<Claim>> catchUp,
      BiConsumer<Waiting, Standing.Held> deliver) {
    this.servers = servers;
    this.wire = wire;
    this.address = address;
    this.catchUp = catchUp;
    this.deliver = deliver;
  }

  /** Where a store's bells ring: 25 letters and digits, never used twice. */
  static String newAddress() {
    return Long.toUnsignedString(random.nextLong(), 36)
        + Long.toUnsignedString(random.nextLong(), 36);
  }

  /** {@code claim} may be granted from now on. */
  void add(Claim claim, Bell bell) {
    waiting.put(claim.id(), new Waiting(claim, bell));
  }

  /** {@code id} waits no more, whatever became of it. */
  void remove(ClaimId id) {
    waiting.remove(id);
  }

  boolean has(ClaimId id) {
    return waiting.containsKey(id);
  }

  /** A claim was told to wait: somebody has to listen. */
  void listen() {
    if (!wanted.get() && !closed && wanted.compareAndSet(false, true)) {
      open();
    }
  }

  /** {@code id} was granted; rings if it waits. */
  void ring(ClaimId id, Standing.Held held) {
    Waiting granted = waiting.remove(id);
    if (granted != null) {
      deliver.accept(granted, held);
    }
  }

  /** A claim was found granted whose bell should have rung. */
  void missed() {
    StatefulRedisPubSubConnection<String, String> doubtful = connection.get();
    long now = System.nanoTime();
    if (doubtful != null
        && now - doubtedAt >= DOUBT_PAUSE_NANOS
        && connection.compareAndSet(doubtful, null)) {
      doubtedAt = now;
      log.debug("{}: a bell was lost, listening anew", servers.describe());
      doubtful.closeAsync();
      open();
    }
  }

  /** Sentinels say who rings from now on: listens there, if it does not yet. */
  void named(Servers.Primary named) {
    boolean isKnown = named.equals(primary);
    primary = named;
    StatefulRedisPubSubConnection<String, String> before = connection.get();
    Servers.Place here = place;
    if (!isKnown
        && before != null
        && (here == null || !here.isAt(named.address()))
        && connection.compareAndSet(before, null)) {
      before.closeAsync();
      open();
    }
  }

  /**
   * Dials on another thread: the first time in a JVM loads many classes, and whoever calls has an
   * answer to tell, or counts time.
   */
  private void open() {
    CompletableFuture<Object> begun = new CompletableFuture<>();
    dialling = begun; // before the look at closed: whoever closes waits for it
    try {
      wire.aside(() -> open(begun));
    } catch (RuntimeException | Error e) { // of threads, where none can be started
      notOpened(begun, e);
    }
  }

  private void open(CompletableFuture<Object> begun) {
    if (closed) {
      begun.complete(null);
      return;
    }
    Servers.Primary asked = primary;
    try {
      CompletionStage<? extends StatefulRedisPubSubConnection<String, String>> opening =
          servers.dialBells();
      opening.whenComplete(
          (opened, error) -> {
            if (opened == null) {
              log.debug("{} cannot be listened to", servers.describe(), error);
              openLater(RETRY_NANOS);
            } else if (closed) {
              connection.set(opened);
              opened.closeAsync(); // nobody may be waiting to close it any more
            } else if (!Objects.equals(primary, asked)) {
              opened.closeAsync(); // it may be one of the old primary
              open();
            } else {
              Servers.Place here = new Servers.Place(opening, again -> {});
              opened.addListener(here);
              place = here;
              connection.set(opened);
              if (!Objects.equals(primary, asked) && connection.compareAndSet(opened, null)) {
                opened.closeAsync(); // told while nothing stood there to be left
                open();
              } else {
                subscribe(opened);
              }
            }
            begun.complete(null);
          });
    } catch (RuntimeException | Error e) { // of threads, where none can be started
      notOpened(begun, e);
    }
  }

  private void notOpened(CompletableFuture<Object> begun, Throwable error) {
    begun.complete(null);
    log.debug("{} cannot be listened to", servers.describe(), error);
    openLater(RETRY_NANOS);
  }

  private void openLater(long nanos) {
    if (!closed) {
      wire.after(nanos, this::open);
    }
  }

  private void subscribe(StatefulRedisPubSubConnection<String, String> opened) {
    opened.addListener(
        new RedisPubSubAdapter<String, String>() {
          @Override
          public void subscribed(String channel, long count) {
            refusals = 0;
            askForThoseWaiting();
          }

          @Override
          public void message(String channel, String text) {
            heard(text);
          }
        });
    opened
        .async()
        .subscribe(CHANNEL + address)
        .whenComplete(
            (nothing, error) -> {
              if (error != null && !closed && connection.compareAndSet(opened, null)) {
                opened.closeAsync();
                notSubscribed(error);
              }
            });
  }

  /**
   * It may be a right that is missing, which is said once; the waiters ask instead. The pauses
   * double up to 30 s, so that a right given later is found.
   */
  private void notSubscribed(Throwable error) {
    if (!(error instanceof RedisCommandExecutionException)) {
      log.debug("{} cannot be listened to", servers.describe(), error);
      openLater(RETRY_NANOS);
      return;
    }
    int before = refusals;
    refusals = before + 1;
    String what = "{} does not let us subscribe to {}*, so waiters ask instead: {}";
    if (before == 0) {
      log.warn(what, servers.describe(), CHANNEL, error.getMessage());
    } else {
      log.debug(what, servers.describe(), CHANNEL, error.getMessage());
    }
    openLater(Math.min(LONGEST_RETRY_NANOS, RETRY_NANOS << Math.min(before, 10)));
  }

  private void askForThoseWaiting() {
    List<Claim> claims = new ArrayList<>();
    waiting.values().forEach(each -> claims.add(each.claim()));
    if (!claims.isEmpty()) {
      catchUp.accept(claims);
    }
  }

  private void heard(String text) {
    String[] words = text.split(" ", -1);
    try {
      for (int i = 0; i + 3 < words.length; i += Replies.RING_LENGTH) {
        ClaimId id = ClaimId.parse(words[i]);
        long first = Long.parseLong(words[i + 1]);
        long last = Long.parseLong(words[i + 2]);
        ring(id, new Standing.Held(first, last, Replies.followers(id, words[i + 3])));
      }
    } catch (IllegalArgumentException e) {
      log.warn("{}: a message on our channel is not ours", servers.describe(), e);
    }
  }

  @Override
  public void close() {
    closed = true;
    Shutdown.await(dialling);
    StatefulRedisPubSubConnection<String, String> open = connection.get();
    if (open != null) {
      Shutdown.of(open);
    }
    waiting.clear();
  }
}

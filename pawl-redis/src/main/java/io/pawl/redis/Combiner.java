package io.pawl.redis;

import io.netty.util.concurrent.FastThreadLocalThread;
import io.pawl.concurrent.Futures;
import io.pawl.redis.Scripts.Script;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Lets requests about single claims or counters that are made at about the same time share
 * commands; all of them for keys that may stand in one command.
 *
 * <p>A request is sent at once, in a command of its own, while few departures are on their way.
 * Those made meanwhile leave together as soon as earlier ones have been answered: in one command
 * for each verb, and in more where a request would otherwise overtake an earlier one on its lock.
 * So requests for a lock take effect in the order in which they were made. Where a command has to
 * be repeated, in whole or by halves, those sent after it are repeated too, and none leaves
 * meanwhile.
 *
 * <p>A request that has waited for as long as an answer may take fails unsent. That needs no timer:
 * while requests wait, others are on their way, and each of those ends within that time. So the
 * last of them to end finds whom to send and whom to fail, and no request lasts longer than twice
 * that time, if it is not repeated.
 *
 * <p>What one of Netty's threads sends it may write at once, before what others have handed over to
 * it. Hence such a thread sends only while nothing is on its way.
 *
 * <p>What the server says of a command it says of all its claims; where it may have meant only some
 * of them, each half is asked again, down to the one that it meant. That repeats what was applied
 * already, which is harmless by the ids, and what fails then may have been applied. The rings of a
 * command that failed are lost.
 */
final class Combiner {

  static final int MOST_CLAIMS = 64;

  private static final int MOST_ON_THEIR_WAY = 4;
  private static final int MOST_IN_A_DEPARTURE = 256;
  static final int MOST_WAITING = 200_000;

  private record Request(
      Script script,
      int entries,
      String key,
      List<String> values,
      long madeAtNanos,
      CompletableFuture<List<Object>> answer) {}

  /** What commands before may have left behind of a request that is asked again. */
  private enum Doubt {
    NONE,
    /** A script failed at one of its keys, after others. */
    OF_SOME,
    OF_ALL
  }

  /** Who was asked by this thread, while it has more to ask before anything is sent. */
  private static final ThreadLocal<@Nullable Set<Combiner>> asked = new ThreadLocal<>();

  private final Verbs verbs;
  private final Failures failures;
  private final String address;
  private final long timeoutNanos;
  private final LongSupplier nanoTime;
  private final ObjIntConsumer<List<Object>> rings;
  private final Queue<Request> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicInteger onTheirWay = new AtomicInteger();
  private final AtomicBoolean sending = new AtomicBoolean();
  private final AtomicInteger repeats = new AtomicInteger();

  /** As many as there were when the first of those on their way departed. */
  private volatile int repeatsBefore;

  /**
   * @param address the scripts' first argument, the same for all
   * @param timeoutNanos how long a request waits at most before it is sent
   * @param rings told of each reply, and where in it the rings begin
   */
  Combiner(
      Verbs verbs,
      String address,
      long timeoutNanos,
      LongSupplier nanoTime,
      ObjIntConsumer<List<Object>> rings) {
    this.verbs = verbs;
    this.failures = verbs.failures();
    this.address = address;
    this.timeoutNanos = timeoutNanos;
    this.nanoTime = nanoTime;
    this.rings = rings;
  }

  /**
   * Never throws.
   *
   * @param entries how many the script answers for each key
   * @param values the script's arguments for this key
   * @return the entries for this key
   */
  CompletableFuture<List<Object>> run(Script script, int entries, String key, List<String> values) {
    Request request =
        new Request(script, entries, key, values, nanoTime.getAsLong(), new CompletableFuture<>());
    if (waiting.incrementAndGet() > MOST_WAITING) {
      waiting.decrementAndGet();
      request.answer.completeExceptionally(failures.noRoom());
    } else {
      queue.add(request);
      Set<Combiner> others = asked.get();
      if (others == null) {
        send();
      } else {
        others.add(this);
      }
    }
    return request.answer;
  }

  /** What {@code calls} asks of any combiners on this thread is sent after all of it was asked. */
  static void together(Runnable calls) {
    if (asked.get() != null) {
      calls.run();
      return;
    }
    Set<Combiner> combiners = new LinkedHashSet<>(2);
    asked.set(combiners);
    try {
      calls.run();
    } finally {
      asked.remove();
      combiners.forEach(Combiner::send);
    }
  }

  private void send() {
    List<Request> late = new ArrayList<>(0);
    while (!queue.isEmpty() && maySend() && sending.compareAndSet(false, true)) {
      try {
        depart(nextCommands(late));
      } finally {
        sending.set(false);
        late.forEach(
            request -> request.answer.completeExceptionally(failures.notSent(timeoutNanos)));
        late.clear();
      }
    }
  }

  private void takeLate(List<Request> late) {
    long now = nanoTime.getAsLong();
    Request first = queue.peek();
    while (first != null && now - first.madeAtNanos >= timeoutNanos) {
      late.add(first);
      queue.remove();
      waiting.decrementAndGet();
      first = queue.peek();
    }
  }

  private boolean maySend() {
    int others = onTheirWay.get();
    return others == 0
        || (others < MOST_ON_THEIR_WAY
            && repeats.get() == repeatsBefore
            && !(Thread.currentThread() instanceof FastThreadLocalThread));
  }

  /** Where memory is short, what was put together leaves, and the first request if nothing was. */
  private List<List<Request>> nextCommands(List<Request> late) {
    List<List<Request>> commands = new ArrayList<>(2);
    try {
      takeLate(late);
      takeNext(commands);
    } catch (Error e) {
      Request first = commands.isEmpty() ? queue.poll() : null;
      if (first != null) {
        waiting.decrementAndGet();
        first.answer.completeExceptionally(failures.of(e));
      }
    }
    return commands;
  }

  /**
   * Each request joins the last command of its script, unless its lock is asked in one after it.
   */
  private void takeNext(List<List<Request>> commands) {
    Map<Script, Integer> lastOf = new IdentityHashMap<>(4);
    Map<String, Integer> lastFor = new HashMap<>();
    for (int i = 0; i < MOST_IN_A_DEPARTURE; i++) {
      Request request = queue.peek();
      if (request == null) {
        return;
      }
      int place = lastOf.getOrDefault(request.script, -1);
      boolean joins =
          place >= lastFor.getOrDefault(request.key, 0) && commands.get(place).size() < MOST_CLAIMS;
      List<Request> command = joins ? commands.get(place) : new ArrayList<>();
      if (!joins) {
        place = commands.size();
        lastOf.put(request.script, place);
      }
      lastFor.put(request.key, place);
      command.add(request);
      if (!joins) {
        commands.add(command);
      }
      queue.remove();
    }
  }

  private void depart(List<List<Request>> commands) {
    if (commands.isEmpty()) {
      return;
    }
    AtomicInteger missing = new AtomicInteger(commands.size());
    if (onTheirWay.getAndIncrement() == 0) {
      repeatsBefore = repeats.get();
    }
    for (List<Request> command : commands) {
      waiting.addAndGet(-command.size());
      Futures.caught(() -> ask(command, Verbs.Repeats.soFar(repeats.get())))
          .whenComplete(
              (reply, error) -> {
                try {
                  if (missing.decrementAndGet() == 0) {
                    onTheirWay.decrementAndGet();
                    send();
                  }
                } finally {
                  answered(command, reply, error, Doubt.NONE);
                }
              });
    }
  }

  private CompletableFuture<List<Object>> ask(List<Request> command, Verbs.Repeats before) {
    List<String> keys = new ArrayList<>(command.size());
    List<String> values = new ArrayList<>(1 + command.size() * command.get(0).values.size());
    values.add(address);
    for (Request request : command) {
      keys.add(request.key);
      values.addAll(request.values);
    }
    Request first = command.get(0);
    return verbs.runInOrder(
        new Verbs.Ordered(
            first.script,
            keys,
            values,
            repeats,
            reply -> rings.accept(reply, first.entries * command.size())),
        before);
  }

  private void answered(
      List<Request> command,
      @Nullable List<Object> reply,
      @Nullable Throwable error,
      Doubt before) {
    if (reply == null) {
      failed(command, failures.of(error), before);
      return;
    }
    int entries = command.get(0).entries;
    try {
      if (reply.size() < entries * command.size()) {
        throw failures.unavailable("answered a script with nonsense", null);
      }
      rings.accept(reply, entries * command.size());
      for (int i = 0; i < command.size(); i++) {
        command.get(i).answer.complete(reply.subList(entries * i, entries * (i + 1)));
      }
    } catch (RuntimeException | Error e) { // nonsense, or a lack of memory
      failed(command, failures.of(e), before);
    }
  }

  private void failed(List<Request> command, Throwable error, Doubt before) {
    int size = command.size();
    if (size > 1 && failures.mayConcernOneClaim(error)) {
      Doubt since = doubtAfter(error, before);
      Verbs.Repeats withThis = Verbs.Repeats.with(repeats);
      try {
        for (List<Request> half :
            List.of(command.subList(0, size / 2), command.subList(size / 2, size))) {
          Futures.caught(() -> ask(half, withThis))
              .whenComplete((reply, again) -> answered(half, reply, again, since));
        }
      } finally {
        withThis.countIn(repeats); // behind both: what leaves unaware of it is repeated, too
      }
      return;
    }
    Throwable told = isInDoubt(error, before) ? failures.doubtful(error) : error;
    command.forEach(request -> request.answer.completeExceptionally(told));
  }

  private Doubt doubtAfter(Throwable error, Doubt before) {
    if (before == Doubt.OF_ALL || failures.isDoubtful(error)) {
      return Doubt.OF_ALL;
    }
    return failures.ranNothing(error) ? before : Doubt.OF_SOME;
  }

  /** A key at which a script fails has nothing of that script, nor of the one before. */
  private boolean isInDoubt(Throwable error, Doubt before) {
    return before == Doubt.OF_ALL || before == Doubt.OF_SOME && !failures.isAboutData(error);
  }
}

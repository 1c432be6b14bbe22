package io.pawl.zookeeper;

import io.pawl.concurrent.Futures;
import io.pawl.error.StoreUnavailableException;
import io.pawl.zookeeper.Nodes.Queue;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The requests that are made under one session. All are asynchronous: their stages complete on
 * ZooKeeper's event thread, in the order in which the requests were made, with a {@link
 * KeeperException} where the service refuses. They do complete: at the latest when the connection
 * is lost. Make no request while a mutex is held, since the stage may be complete at once.
 * Thread-safe.
 */
final class Requests {

  /** A node's data and what the service says of it. */
  record Node(byte[] data, Stat stat) {}

  /** The names of a node's children, and what the service said of the node at the same moment. */
  record Children(List<String> names, Stat stat) {}

  /** Is told once that a node has changed. */
  interface OnChange {

    /**
     * @param deleted whether that is known to be its end
     */
    void changed(boolean deleted);
  }

  /** What was created. */
  record Created(String path, @Nullable Stat stat) {}

  /** Requests under way and not yet sent; more are refused. */
  static final int MOST = 50_000;

  private final Settings settings;
  private final Link link;

  /** One object, so that ZooKeeper's client keeps one entry for each node that is watched. */
  private final Watcher watcher;

  private final Watches watches = new Watches();
  private final Lists lists = new Lists();
  private final AtomicInteger underWay = new AtomicInteger();

  Requests(Settings settings, Link link, Watcher watcher) {
    this.settings = settings;
    this.link = link;
    this.watcher = watcher;
  }

  private <T extends @Nullable Object> CompletableFuture<T> ask(Consumer<Answer<T>> send) {
    if (underWay.incrementAndGet() > MOST) {
      underWay.decrementAndGet();
      return CompletableFuture.failedFuture(
          StoreUnavailableException.unsent(
              settings.shown() + ": " + MOST + " requests are under way", null));
    }
    CompletableFuture<T> answer;
    try {
      answer = Answer.to(send);
    } catch (RuntimeException | Error e) {
      underWay.decrementAndGet();
      throw e;
    }
    answer.whenComplete((value, error) -> underWay.decrementAndGet());
    return answer;
  }

  CompletableFuture<Created> create(String path, byte[] data, CreateMode mode) {
    return ask(
        answer ->
            link.create(
                path,
                data,
                settings.acl(),
                mode,
                (code, asked, context, name, stat) ->
                    answer.is(code, path, new Created(name == null ? path : name, stat)),
                null));
  }

  /** Null where there is no such node. */
  CompletableFuture<@Nullable Stat> exists(String path) {
    return ask(
        answer ->
            link.exists(
                path,
                false,
                (code, asked, context, stat) -> {
                  if (code == Code.NONODE.intValue()) {
                    answer.isNothing();
                  } else {
                    answer.is(code, path, stat);
                  }
                },
                null));
  }

  /** Null where there is no such node, which is not watched then. */
  CompletableFuture<@Nullable Node> read(String path, @Nullable OnChange onChange) {
    if (onChange == null) {
      return ask(answer -> readNode(path, null, answer));
    }
    watches.add(path, onChange);
    CompletableFuture<@Nullable Node> answer = ask(each -> readNode(path, watcher, each));
    return answer.whenComplete(
        (node, error) -> {
          if (node == null) {
            watches.remove(path, onChange);
          }
        });
  }

  /**
   * As {@link #read}, for a node that changes seldom and never comes back: one request does for all
   * who ask while somebody watches it. What they read is as old as that watch.
   */
  CompletableFuture<@Nullable Node> sharedRead(String path, OnChange onChange) {
    CompletableFuture<@Nullable Node> mine = new CompletableFuture<>();
    CompletableFuture<@Nullable Node> first = watches.share(path, onChange, mine);
    if (first == mine) {
      Futures.follow(mine, Futures.caught(() -> ask(each -> readNode(path, watcher, each))));
    }
    return first.whenComplete(
        (node, error) -> {
          if (node == null) {
            watches.remove(path, onChange);
          }
        });
  }

  private void readNode(String path, @Nullable Watcher watching, Answer<@Nullable Node> answer) {
    link.getData(
        path,
        watching,
        (code, asked, context, data, stat) -> {
          if (code == Code.NONODE.intValue()) {
            answer.isNothing();
          } else {
            answer.is(code, path, new Node(data == null ? new byte[0] : data, stat));
          }
        },
        null);
  }

  /** Nobody is to be told of changes any more. */
  void unwatch(String path, OnChange onChange) {
    watches.remove(path, onChange);
  }

  /** Tells those who watch a node. */
  void changed(@Nullable String path, boolean deleted) {
    watches.tell(path, deleted);
  }

  /** Null where there is no such node. */
  CompletableFuture<@Nullable Children> list(String path) {
    return ask(
        answer ->
            link.getChildren(
                path,
                false,
                (int code, String asked, Object context, List<String> names, Stat stat) -> {
                  if (code == Code.NONODE.intValue()) {
                    answer.isNothing();
                  } else {
                    answer.is(code, path, names == null ? null : new Children(names, stat));
                  }
                },
                null));
  }

  /** The names of the children; null where there is no such node. */
  CompletableFuture<@Nullable List<String>> children(String path) {
    return list(path).thenApply(children -> children == null ? null : children.names());
  }

  /**
   * The queue of the lock at {@code path}, behind whatever was asked before; null where there is no
   * such node. Those who ask while a list is under way share the next one, a trip later at most.
   */
  CompletableFuture<@Nullable Queue> sharedQueue(String path) {
    CompletableFuture<@Nullable Queue> mine = new CompletableFuture<>();
    CompletableFuture<@Nullable Queue> next = lists.next(path, mine);
    if (next == mine) {
      list(path, mine);
    }
    return next;
  }

  /** As {@link #sharedQueue}, in one trip: behind whatever this session has been told. */
  CompletableFuture<@Nullable Queue> queueNow(String path) {
    CompletableFuture<@Nullable Queue> mine = new CompletableFuture<>();
    CompletableFuture<@Nullable Queue> current = lists.current(path, mine);
    if (current == mine) {
      list(path, mine);
    }
    return current;
  }

  /** As {@link #sharedQueue}, in one trip, which nobody shares. */
  CompletableFuture<@Nullable Queue> queue(String path) {
    return list(path)
        .thenApply(
            children -> children == null ? null : Queue.of(children.names(), children.stat()));
  }

  private void list(String path, CompletableFuture<@Nullable Queue> told) {
    CompletableFuture<@Nullable Queue> listed;
    try {
      listed = queue(path);
    } catch (RuntimeException | Error e) { // of memory: those who joined it wait all the same
      listed = CompletableFuture.failedFuture(e);
    }
    listed.whenComplete(
        (queue, error) -> {
          CompletableFuture<@Nullable Queue> next = lists.answered(path);
          if (next != null) {
            list(path, next);
          }
          if (error == null) {
            told.complete(queue);
          } else {
            told.completeExceptionally(error);
          }
        });
  }

  /** Whether there was such a node. */
  CompletableFuture<Boolean> delete(String path, int version) {
    return ask(
        answer ->
            link.delete(
                path,
                version,
                (code, asked, context) -> {
                  if (code == Code.NONODE.intValue()) {
                    answer.is(false);
                  } else {
                    answer.is(code, path, true);
                  }
                },
                null));
  }

  CompletableFuture<Stat> write(String path, byte[] data, int version) {
    return ask(
        answer ->
            link.setData(
                path,
                data,
                version,
                (code, asked, context, stat) -> answer.is(code, path, stat),
                null));
  }

  /** All or nothing; the results of all also where it fails, {@link OpResult.ErrorResult}s then. */
  CompletableFuture<List<OpResult>> multi(List<Op> ops) {
    return ask(
        answer ->
            link.multi(
                ops,
                (code, path, context, results) -> {
                  if (results != null && !results.isEmpty()) {
                    answer.is(results);
                  } else {
                    answer.is(code, ops.get(0).getPath(), List.of());
                  }
                },
                null));
  }

  /** The first error among the results of {@link #multi}; null if there is none. */
  static @Nullable Code firstError(List<OpResult> results) {
    for (OpResult result : results) {
      if (result instanceof OpResult.ErrorResult error
          && error.getErr() != Code.OK.intValue()
          && error.getErr() != Code.RUNTIMEINCONSISTENCY.intValue()) {
        return Code.get(error.getErr());
      }
    }
    return null;
  }

  /**
   * Completes when a majority has agreed to a transaction that changes nothing. What this session
   * reads from then on is no older than that, and an earlier request of its own whose answer was
   * lost has been carried out by then, or never will be. That the base node is missing is put to
   * the majority like any transaction; what else is refused may have been so by one server alone.
   */
  CompletableFuture<Void> barrier() {
    return multi(List.of(Op.check(settings.base(), -1)))
        .thenApply(
            results -> {
              Code error = firstError(results);
              if (error != null && error != Code.NONODE) {
                throw new CompletionException(KeeperException.create(error, settings.base()));
              }
              return null;
            });
  }

  /** Completes when this server has caught up with the leader. */
  CompletableFuture<Void> sync() {
    return ask(
        answer ->
            link.sync(
                settings.base(),
                (code, asked, context) -> {
                  if (code == Code.NONODE.intValue()) {
                    answer.isNothing();
                  } else {
                    answer.is(code, asked, null);
                  }
                },
                null));
  }

  /** Which queues are being listed, and who waits for the next list. Thread-safe. */
  private static final class Lists {

    private final ReentrantLock mutex = new ReentrantLock();

    /** By path those that are under way. */
    private final Map<String, Round> underWay = new HashMap<>();

    /** The list that shows what was asked before: {@code mine} if it is to be made at once. */
    CompletableFuture<@Nullable Queue> next(String path, CompletableFuture<@Nullable Queue> mine) {
      mutex.lock();
      try {
        Round round = underWay.putIfAbsent(path, new Round(mine));
        if (round == null) {
          return mine;
        }
        CompletableFuture<@Nullable Queue> wanted =
            round.next == null ? new CompletableFuture<>() : round.next;
        round.next = wanted;
        return wanted;
      } finally {
        mutex.unlock();
      }
    }

    /** The list that is under way: {@code mine} if it is to be made at once. */
    CompletableFuture<@Nullable Queue> current(
        String path, CompletableFuture<@Nullable Queue> mine) {
      mutex.lock();
      try {
        Round round = underWay.putIfAbsent(path, new Round(mine));
        return round == null ? mine : round.current;
      } finally {
        mutex.unlock();
      }
    }

    /** The list to be made now; null if nobody wants one. */
    @Nullable CompletableFuture<@Nullable Queue> answered(String path) {
      mutex.lock();
      try {
        Round round = underWay.remove(path);
        if (round != null && round.next != null) {
          underWay.put(path, new Round(round.next));
          return round.next;
        }
        return null;
      } finally {
        mutex.unlock();
      }
    }

    /** Made while others may come to want the next one. Guarded by the mutex. */
    private static final class Round {
      private final CompletableFuture<@Nullable Queue> current;
      private @Nullable CompletableFuture<@Nullable Queue> next;

      Round(CompletableFuture<@Nullable Queue> current) {
        this.current = current;
      }
    }
  }

  /**
   * The answer to one request. ZooKeeper's client gives it on its event thread; once that has
   * ended, within the call that makes the request, while it holds monitors of its own. Such an
   * answer is kept until the call has returned, so that nobody's code ever runs under them.
   */
  private static final class Answer<T extends @Nullable Object> {

    private final CompletableFuture<T> stage = new CompletableFuture<>();
    private final Thread requester = Thread.currentThread();

    /** Used by the requester alone. */
    private boolean sending = true;

    private @Nullable Runnable kept;

    private Answer() {}

    /** Makes a request, which {@code send} sends. */
    static <T extends @Nullable Object> CompletableFuture<T> to(Consumer<Answer<T>> send) {
      Answer<T> answer = new Answer<>();
      send.accept(answer);
      answer.sending = false;
      if (answer.kept != null) {
        answer.kept.run();
      }
      return answer.stage;
    }

    void is(T value) {
      settle(() -> stage.complete(value));
    }

    /** There is no such node. */
    void isNothing() {
      settle(() -> stage.complete(null));
    }

    /** By ZooKeeper's code for what became of it. */
    void is(int code, @Nullable String path, @Nullable T value) {
      settle(
          () -> {
            if (code == Code.OK.intValue()) {
              stage.complete(value);
            } else {
              stage.completeExceptionally(KeeperException.create(Code.get(code), path));
            }
          });
    }

    private void settle(Runnable settling) {
      if (Thread.currentThread() == requester && sending) {
        kept = settling;
      } else {
        settling.run();
      }
    }
  }
}

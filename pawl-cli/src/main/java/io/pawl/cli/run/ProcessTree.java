package io.pawl.cli.run;

import io.pawl.concurrent.Uninterruptibly;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A command and everything that it has started: its descendants, and, on Linux, orphans that carry
 * its mark in their environment. What has both left the tree and cleared its environment is missed.
 */
class ProcessTree {

  /** The environment variable with the marks of all the runs around a process. */
  static final String MARK_VARIABLE = "PAWL_RUN";

  private static final long POLL_MILLIS = 20;
  private static final int KILL_ROUNDS = 100;

  private final Supplier<Stream<ProcessHandle>> roots;
  private final Marked marked;
  private final Set<ProcessHandle> seen = new LinkedHashSet<>();
  private boolean isLookWhole;

  ProcessTree(Process root, String mark) {
    this(root, new Marked(mark, Path.of("/proc")));
  }

  ProcessTree(Process root, Marked marked) {
    this(() -> Stream.of(root).filter(Process::isAlive).map(Process::toHandle), marked);
  }

  private ProcessTree(Supplier<Stream<ProcessHandle>> roots, Marked marked) {
    this.roots = roots;
    this.marked = marked;
  }

  /**
   * Of a command that may run though its start has failed: the child of ours that was none before.
   * Others are not ours to end: whoever became {@code pawl} by an exec may have started some.
   *
   * @param before the {@link #children} from before the start
   */
  static ProcessTree ofFailedStart(Set<ProcessHandle> before, String mark) {
    Set<ProcessHandle> started = children();
    started.removeAll(before);
    return new ProcessTree(started::stream, new Marked(mark, Path.of("/proc")));
  }

  /** Those of this process; none where that cannot be seen, as without {@code /proc}. */
  static Set<ProcessHandle> children() {
    try {
      return ProcessHandle.current().children().collect(Collectors.toCollection(HashSet::new));
    } catch (RuntimeException e) {
      return new HashSet<>();
    }
  }

  /** Asks all of them to end, and gives them {@code graceMillis} for it. */
  void terminate(long graceMillis) {
    long killAt = System.nanoTime() + graceMillis * 1_000_000; // looking takes time too
    living().forEach(ProcessHandle::destroy);
    while (!isGone(living()) && System.nanoTime() < killAt) {
      pause(Math.min(POLL_MILLIS, Math.max(1, (killAt - System.nanoTime()) / 1_000_000)));
    }
  }

  /** Ends all of them, and those that they start meanwhile. Answers whether none is left. */
  boolean kill() {
    seen.forEach(ProcessHandle::destroyForcibly); // before another look, which takes time
    for (int round = 0; round < KILL_ROUNDS; round++) {
      List<ProcessHandle> living = living();
      if (isGone(living)) {
        return true;
      }
      living.forEach(ProcessHandle::destroyForcibly);
      pause(round < 5 ? 1 : POLL_MILLIS);
    }
    return isGone(living());
  }

  /** Waits, then kills again. Answers whether none is left. */
  boolean killAfter(long millis) {
    pause(millis);
    List<ProcessHandle> living = living();
    living.forEach(ProcessHandle::destroyForcibly);
    return isGone(living);
  }

  private boolean isGone(List<ProcessHandle> living) {
    return living.isEmpty() && isLookWhole;
  }

  /**
   * In one look at all processes: one for each of the tree would take seconds on a large host, and
   * the lease ends meanwhile.
   */
  private List<ProcessHandle> living() {
    roots.get().forEach(seen::add);
    Map<ProcessHandle, List<ProcessHandle>> children = new HashMap<>();
    List<ProcessHandle> all = ProcessHandle.allProcesses().toList();
    isLookWhole = marked.look(all);
    seen.addAll(marked.found());
    for (ProcessHandle process : all) {
      process
          .parent()
          .ifPresent(
              parent -> children.computeIfAbsent(parent, p -> new ArrayList<>()).add(process));
    }
    Deque<ProcessHandle> parents = new ArrayDeque<>(seen);
    while (!parents.isEmpty()) {
      for (ProcessHandle child : children.getOrDefault(parents.remove(), List.of())) {
        if (seen.add(child)) {
          parents.add(child);
        }
      }
    }
    seen.removeIf(process -> !isAlive(process));
    return List.copyOf(seen);
  }

  /** A zombie whose parent never asks for it is as dead as it can be made. */
  private static boolean isAlive(ProcessHandle process) {
    if (!process.isAlive()) {
      return false;
    }
    ProcessStat stat = ProcessStat.of(Long.toString(process.pid()));
    return stat == null || !stat.isZombie();
  }

  /** A signal interrupts the thread that starts a command. */
  private static void pause(long millis) {
    Uninterruptibly.await(new CountDownLatch(1), TimeUnit.MILLISECONDS.toNanos(millis));
  }
}

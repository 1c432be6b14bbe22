package io.pawl.cli.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A command and everything that it has started: its descendants, and, on Linux, orphans that carry
 * its mark in their environment. What has both left the tree and cleared its environment is missed.
 */
class ProcessTree {

  /** The environment variable with the marks of all the runs around a process. */
  static final String MARK_VARIABLE = "PAWL_RUN";

  private static final long POLL_MILLIS = 20;
  private static final int KILL_ROUNDS = 100;

  private final Process root;
  private final String mark;
  private final Set<ProcessHandle> seen = new LinkedHashSet<>();

  ProcessTree(Process root, String mark) {
    this.root = root;
    this.mark = mark;
  }

  /** Asks all of them to end, and gives them {@code graceMillis} for it. */
  void terminate(long graceMillis) {
    long killAt = System.nanoTime() + graceMillis * 1_000_000; // looking takes time too
    living().forEach(ProcessHandle::destroy);
    while (!living().isEmpty() && System.nanoTime() < killAt) {
      pause(Math.min(POLL_MILLIS, Math.max(1, (killAt - System.nanoTime()) / 1_000_000)));
    }
  }

  /** Ends all of them, and those that they start meanwhile. Answers whether none is left. */
  boolean kill() {
    seen.forEach(ProcessHandle::destroyForcibly); // before another look, which takes time
    for (int round = 0; round < KILL_ROUNDS; round++) {
      List<ProcessHandle> living = living();
      if (living.isEmpty()) {
        return true;
      }
      living.forEach(ProcessHandle::destroyForcibly);
      pause(round < 5 ? 1 : POLL_MILLIS);
    }
    return living().isEmpty();
  }

  /** Waits, then kills again. Answers whether none is left. */
  boolean killAfter(long millis) {
    pause(millis);
    List<ProcessHandle> living = living();
    living.forEach(ProcessHandle::destroyForcibly);
    return living.isEmpty();
  }

  /**
   * In one look at all processes: one for each of the tree would take seconds on a large host, and
   * the lease ends meanwhile.
   */
  private List<ProcessHandle> living() {
    if (root.isAlive()) {
      seen.add(root.toHandle());
    }
    Map<ProcessHandle, List<ProcessHandle>> children = new HashMap<>();
    ProcessHandle.allProcesses()
        .forEach(
            process -> {
              if (isMarked(process)) {
                seen.add(process);
              }
              process
                  .parent()
                  .ifPresent(
                      parent ->
                          children.computeIfAbsent(parent, p -> new ArrayList<>()).add(process));
            });
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

  private boolean isMarked(ProcessHandle process) {
    try {
      byte[] environment =
          Files.readAllBytes(Path.of("/proc", Long.toString(process.pid()), "environ"));
      return new String(environment, StandardCharsets.ISO_8859_1).contains(mark);
    } catch (IOException e) {
      return false; // not Linux, gone, or another user's
    }
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts the watch", e);
    }
  }
}

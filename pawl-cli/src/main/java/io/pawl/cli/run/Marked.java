package io.pawl.cli.run;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Uninterruptibly;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The processes that carry a mark in their environment, on Linux. Who hangs in a file system that
 * does not answer may keep readers of its environment waiting: one such process is waited for once
 * and for a moment, and passed over from then on.
 */
final class Marked {

  private static final long STUCK_MILLIS = 200;

  private final String mark;
  private final Path processes;
  private final Set<ProcessHandle> found = ConcurrentHashMap.newKeySet();
  private final Set<ProcessHandle> underWay = ConcurrentHashMap.newKeySet();

  /**
   * @param processes the folder with one folder for each
   */
  Marked(String mark, Path processes) {
    this.mark = mark;
    this.processes = processes;
  }

  /** Those that were found so far. */
  Set<ProcessHandle> found() {
    return found;
  }

  /** Looks for more among {@code all}. Answers whether it got through. */
  boolean look(List<ProcessHandle> all) {
    Look look = new Look(all);
    try {
      DaemonThreads.named("marks", look).start();
    } catch (OutOfMemoryError noThread) {
      look.run();
    }
    while (true) {
      int before = look.done;
      if (Uninterruptibly.await(look.end, TimeUnit.MILLISECONDS.toNanos(STUCK_MILLIS))) {
        return true;
      }
      if (look.done == before) {
        look.isGivenUp = true;
        return false;
      }
    }
  }

  private final class Look implements Runnable {
    private final List<ProcessHandle> all;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private volatile int done;
    private volatile boolean isGivenUp;

    Look(List<ProcessHandle> all) {
      this.all = all;
    }

    @Override
    public void run() {
      for (int i = 0; i < all.size() && !isGivenUp; i++) {
        ProcessHandle process = all.get(i);
        if (underWay.add(process)) {
          if (isMarked(process)) {
            found.add(process);
          }
          underWay.remove(process);
        }
        done = i + 1;
      }
      end.complete(null);
    }
  }

  private boolean isMarked(ProcessHandle process) {
    try {
      byte[] environment =
          Files.readAllBytes(processes.resolve(Long.toString(process.pid())).resolve("environ"));
      return new String(environment, StandardCharsets.ISO_8859_1).contains(mark);
    } catch (IOException e) {
      return false; // not Linux, gone, or another user's
    }
  }
}

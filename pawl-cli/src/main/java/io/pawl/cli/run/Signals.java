package io.pawl.cli.run;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/**
 * Signals go to the command while there is one; before and after they interrupt the thread that
 * waits. QUIT is not among them: a JVM keeps it for its thread dump.
 *
 * <p>A terminal's Ctrl-C reaches the whole foreground process group, the command included: INT is
 * not forwarded while pawl and the command are both in it.
 */
final class Signals {

  private static final List<String> CAUGHT = List.of("HUP", "INT", "TERM", "USR1", "USR2");

  private final Thread waiting;
  private final Set<Integer> pending = new LinkedHashSet<>();
  private @Nullable Process command;

  /**
   * @param waiting interrupted while there is no command
   */
  Signals(Thread waiting) {
    this.waiting = waiting;
  }

  /** Catches signals from now on. */
  void catchAll() {
    SignalHandler handler = signal -> received(signal.getName(), signal.getNumber());
    for (String name : CAUGHT) {
      try {
        Signal signal = new Signal(name);
        if (Signal.handle(signal, handler) == SignalHandler.SIG_IGN) {
          Signal.handle(signal, SignalHandler.SIG_IGN); // nohup: for the command too
        }
      } catch (IllegalArgumentException e) {
        // not this platform's, or taken by the JVM: it keeps its default effect
      }
    }
  }

  /** The number of the first signal that came while there was no command, 0 for none. */
  synchronized int pending() {
    return pending.isEmpty() ? 0 : pending.iterator().next();
  }

  /** For where the interrupt was lost, as by a store's client that starts its threads. */
  synchronized void throwIfAny() throws InterruptedException {
    if (!pending.isEmpty()) {
      throw new InterruptedException("by a signal");
    }
  }

  /** The command runs: it gets the signals, and those that have just come. */
  synchronized void forwardTo(Process started) {
    command = started;
    pending.forEach(number -> send(Integer.toString(number), started));
    pending.clear();
  }

  /** The command has ended. */
  synchronized void keep() {
    command = null;
  }

  synchronized void received(String name, int number) {
    Process running = command;
    if (running == null) {
      pending.add(number);
      waiting.interrupt();
    } else if (!hasCome(name, running)) {
      send(name, running);
    }
  }

  private static boolean hasCome(String name, Process running) {
    if (!name.equals("INT")) {
      return false;
    }
    ProcessStat self = ProcessStat.of("self");
    ProcessStat other = ProcessStat.of(Long.toString(running.pid()));
    return self != null && other != null && self.isInForeground() && self.group() == other.group();
  }

  private static void send(String signal, Process running) {
    if (!running.isAlive()) {
      return;
    }
    try {
      new ProcessBuilder("/bin/sh", "-c", "kill -s \"$1\" \"$2\"", "sh", signal, "" + running.pid())
          .redirectOutput(Redirect.DISCARD)
          .redirectError(Redirect.DISCARD)
          .start();
    } catch (IOException e) {
      running.destroy(); // no shell to send with: better stopped than deaf
    }
  }
}

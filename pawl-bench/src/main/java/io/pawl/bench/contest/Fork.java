package io.pawl.bench.contest;

import io.pawl.bench.Suites;
import io.pawl.bench.rival.Rival;
import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * One process of a run. It connects, says {@link #READY}, waits for a line, runs, and writes its
 * {@link Tally} to a file. {@link ForkProcess} is the other end.
 */
final class Fork {

  static final String READY = "ready";
  static final int VIOLATED = 3;

  private Fork() {}

  /**
   * What a fork is told on its command line.
   *
   * @param board the file of the {@link Board}
   * @param tally the file to write to
   */
  record Order(
      String suite,
      String rival,
      String address,
      Path board,
      Path tally,
      int jvm,
      Load load,
      long warmUpMillis,
      long millis,
      boolean virtualThreads) {

    String[] toArguments() {
      return new String[] {
        suite,
        rival,
        address,
        board.toString(),
        tally.toString(),
        Integer.toString(jvm),
        Integer.toString(load.jvms()),
        Integer.toString(load.threads()),
        Integer.toString(load.locks()),
        load.pick().name(),
        Integer.toString(load.cycles()),
        Boolean.toString(load.writes()),
        Integer.toString(load.permits()),
        Integer.toString(load.readPercent()),
        Boolean.toString(load.handOffs()),
        Long.toString(warmUpMillis),
        Long.toString(millis),
        Boolean.toString(virtualThreads)
      };
    }

    static Order parse(String[] words) {
      Load load =
          new Load(
              Integer.parseInt(words[6]),
              Integer.parseInt(words[7]),
              Integer.parseInt(words[8]),
              Load.Pick.valueOf(words[9]),
              Integer.parseInt(words[10]),
              Boolean.parseBoolean(words[11]),
              Integer.parseInt(words[12]),
              Integer.parseInt(words[13]),
              Boolean.parseBoolean(words[14]));
      return new Order(
          words[0],
          words[1],
          words[2],
          Path.of(words[3]),
          Path.of(words[4]),
          Integer.parseInt(words[5]),
          load,
          Long.parseLong(words[15]),
          Long.parseLong(words[16]),
          Boolean.parseBoolean(words[17]));
    }
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    Order order = Order.parse(arguments);
    int status = 0;
    try {
      obey(order);
    } catch (ExclusionViolation e) {
      System.err.println(e.getMessage());
      status = VIOLATED;
    } catch (RuntimeException e) {
      e.printStackTrace();
      status = 1;
    }
    // Not by returning: what a rival leaves running must not keep the process.
    System.exit(status);
  }

  private static void obey(Order order) throws IOException, InterruptedException {
    ContestSuite suite = (ContestSuite) Suites.named(order.suite());
    Rival rival = suite.rival(order.rival());
    Board board = Board.at(order.board(), order.load().locks());
    try (Rival.Client client = rival.connect(order.address());
        ContestSuite.Resource resource =
            order.load().writes() ? suite.resource(order.address()) : lock -> {}) {
      Arena arena =
          new Arena(client, order.load(), order.jvm(), order.virtualThreads(), board, resource);
      arena.prepare();
      System.out.println(READY);
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
      Tally tally = arena.run(order.warmUpMillis(), order.millis());
      try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(order.tally()))) {
        tally.write(out);
      }
    }
  }
}

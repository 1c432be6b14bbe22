package io.pawl.cli.command;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Pawl's own words: results on standard output, everything else on standard error, in UTF-8. */
public final class Output {

  private final PrintStream results;
  private final PrintStream remarks;

  public Output(PrintStream results, PrintStream remarks) {
    this.results = results;
    this.remarks = remarks;
  }

  public static Output ofThisProcess() {
    return new Output(stream(FileDescriptor.out), stream(FileDescriptor.err));
  }

  private static PrintStream stream(FileDescriptor descriptor) {
    return new PrintStream(new FileOutputStream(descriptor), false, StandardCharsets.UTF_8);
  }

  /**
   * @throws Failure where it cannot be written, as to a file on a disk that is full
   */
  public void result(String line) {
    print(results, line);
    if (results.checkError()) {
      throw new Failure(
          Exit.INTERNAL, "standard output cannot be written; the result is not whole");
    }
  }

  /** One line for a person, marked as ours. */
  public void remark(String line) {
    print(remarks, "pawl: " + line);
  }

  /** One line for a program. */
  public void event(Json event) {
    print(remarks, event.toString());
  }

  /** In one write, so that lines of several processes do not mix. */
  private static void print(PrintStream stream, String line) {
    byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
    stream.write(bytes, 0, bytes.length);
    stream.flush();
  }
}

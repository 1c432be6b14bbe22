package io.pawl.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * A file system of some megabytes that can be filled up: a tmpfs in a mount namespace of its own,
 * which needs no rights where the system lets users make namespaces. Only programs started with
 * {@link #entry} see it; it lasts until it is closed, or this JVM is gone.
 */
public final class SmallDisk implements AutoCloseable {

  /** Whoever mounts something is root to itself, and nothing more outside. */
  private static final String SCRIPT =
      """
      mount -t tmpfs -o "size=$2m,mode=0777" none "$1" || exit 1
      echo done
      while read -r line; do
        case $line in
          fill) dd if=/dev/zero of="$1/filler" bs=4k 2>/dev/null ;;
          free) rm -f "$1/filler" ;;
        esac
        echo done
      done
      """;

  private final Path folder;
  private final Process keeper;
  private final BufferedReader answers;

  private SmallDisk(Path folder, int megabytes) {
    this.folder = folder;
    try {
      this.keeper =
          new ProcessBuilder(
                  "unshare",
                  "--user",
                  "--map-root-user",
                  "--mount",
                  "sh",
                  "-c",
                  SCRIPT,
                  "pawl-disk",
                  folder.toString(),
                  Integer.toString(megabytes))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      throw new ServerException("cannot start unshare, of util-linux", e);
    }
    this.answers = keeper.inputReader(StandardCharsets.US_ASCII);
  }

  /** Mounts one of so many megabytes on an empty folder. */
  static SmallDisk on(Path folder, int megabytes) {
    SmallDisk disk = new SmallDisk(folder, megabytes);
    try {
      disk.awaitDone();
      return disk;
    } catch (RuntimeException e) {
      disk.close();
      throw e;
    }
  }

  /** Returns the command before a program that is to see it. */
  List<String> entry() {
    return List.of(
        "nsenter",
        "--target",
        Long.toString(keeper.pid()),
        "--user",
        "--mount",
        "--preserve-credentials",
        "--");
  }

  /** Returns the path by which this JVM sees a file on it. */
  Path seen(Path path) {
    return Path.of("/proc", Long.toString(keeper.pid()), "root" + path);
  }

  /** Takes up all that is free; returns when there is nothing left. */
  public void fill() {
    tell("fill");
  }

  /** Gives back what {@link #fill} took. */
  public void free() {
    tell("free");
  }

  private void tell(String line) {
    try {
      OutputStream ears = keeper.getOutputStream();
      ears.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      ears.flush();
    } catch (IOException e) {
      throw new ServerException("the keeper of the disk on " + folder + " has died", e);
    }
    awaitDone();
  }

  private void awaitDone() {
    try {
      if (answers.readLine() == null) {
        throw new ServerException(
            "no disk on "
                + folder
                + ": this system lets users mount nothing in a namespace of their own");
      }
    } catch (IOException e) {
      throw new ServerException("the keeper of the disk on " + folder + " has died", e);
    }
  }

  @Override
  public void close() {
    keeper.destroyForcibly();
  }
}

package io.pawl.servers;

import io.pawl.servers.ZooKeeperServer.Member;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Three ZooKeeper servers, of which two are a majority. Control it from one thread at a time. */
public final class ZooKeeperEnsemble implements AutoCloseable {
  private static final int SIZE = 3;

  /**
   * How long a leader that nobody follows waits before it takes part in an election again. Two
   * members give one up that opens its port half a second late, and the third serves nobody until
   * this is over.
   */
  private static final int START_MILLIS = 10_000;

  private final List<ZooKeeperServer> members = new ArrayList<>();
  private final List<Member> places = new ArrayList<>();

  private ZooKeeperEnsemble(Consumer<Path> prepare, List<String> options) {
    for (int id = 1; id <= SIZE; id++) {
      places.add(new Member(id, Port.reserve(), Port.reserve()));
    }
    List<String> lines = new ArrayList<>(places.stream().map(Member::line).toList());
    if (!ZooKeeperServer.isSet("initLimit", options)) {
      lines.add("initLimit=" + START_MILLIS / ZooKeeperServer.tickMillis(options));
    }
    if (!ZooKeeperServer.isSet("syncLimit", options)) {
      lines.add("syncLimit=50");
    }
    try {
      for (Member place : places) {
        members.add(ZooKeeperServer.member(place.id(), lines, options));
      }
      members.forEach(member -> member.configure(prepare));
      members.forEach(ServerProcess::launch);
      awaitQuorum(SIZE);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /**
   * Starts an ensemble and returns once all members serve.
   *
   * @param options further lines of the configuration, such as {@code tickTime=100}, and arguments
   *     of the members' JVMs, such as {@code -Xmx1g}
   */
  public static ZooKeeperEnsemble start(String... options) {
    return start(data -> {}, options);
  }

  /** As {@link #start(String...)}, with data that {@code prepare} has put into each folder. */
  public static ZooKeeperEnsemble start(Consumer<Path> prepare, String... options) {
    return new ZooKeeperEnsemble(prepare, List.of(options));
  }

  /** Returns the members, running or not. */
  public List<ZooKeeperServer> members() {
    return List.copyOf(members);
  }

  /** Returns {@code host:port,host:port,host:port}. */
  public String addresses() {
    return members.stream().map(ZooKeeperServer::address).collect(Collectors.joining(","));
  }

  /** Returns the member that leads now. */
  public ZooKeeperServer leader() {
    return members.stream()
        .filter(ServerProcess::isAlive)
        .filter(member -> member.mode().equals("leader"))
        .findFirst()
        .orElseThrow(() -> new ServerException("nobody leads " + this));
  }

  /** Returns the members that follow now. */
  public List<ZooKeeperServer> followers() {
    return members.stream()
        .filter(ServerProcess::isAlive)
        .filter(member -> member.mode().equals("follower"))
        .toList();
  }

  /** Returns once {@code count} members serve, one of them as the leader. */
  public void awaitQuorum(int count) {
    Await.until(
        () -> {
          List<String> modes = members.stream().map(ZooKeeperEnsemble::mode).toList();
          return modes.contains("leader")
              && modes.stream().filter(mode -> !mode.isEmpty()).count() >= count;
        },
        () ->
            this
                + " has no quorum of "
                + count
                + members.stream().map(ServerProcess::tail).collect(Collectors.joining()));
  }

  private static String mode(ZooKeeperServer member) {
    return member.isAlive() ? member.mode() : "";
  }

  @Override
  public void close() {
    members.forEach(ServerProcess::close);
    for (Member place : places) {
      place.quorum().close();
      place.election().close();
    }
  }

  @Override
  public String toString() {
    return "ensemble " + addresses();
  }
}

package io.pawl.servers;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A PgBouncer in transaction mode before a {@link PostgresServer}: each transaction of a client may
 * be another connection of the server's.
 */
public final class PgBouncer extends ServerProcess {

  private static final int CONNECT_MILLIS = 1_000;

  private final Path program;

  private PgBouncer(PostgresServer server, int connections) {
    super("pgbouncer");
    try {
      this.program = ServerProgram.of("pgbouncer");
      configure(server, connections);
      launch();
    } catch (IOException e) {
      close();
      throw new ServerException("cannot set up " + this, e);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /**
   * Starts one.
   *
   * @param connections how many it has open to the server at most
   */
  public static PgBouncer before(PostgresServer server, int connections) {
    return new PgBouncer(server, connections);
  }

  /** Of {@link PostgresServer#DATABASE}, without user and password, which are the server's. */
  public String jdbcUrl() {
    return "jdbc:postgresql://" + host() + ":" + port() + "/" + PostgresServer.DATABASE;
  }

  private void configure(PostgresServer server, int connections) throws IOException {
    Files.writeString(
        users(), "\"" + PostgresServer.USER + "\" \"" + PostgresServer.PASSWORD + "\"\n");
    Files.write(
        settings(),
        List.of(
            "[databases]",
            "* = host=" + server.host() + " port=" + server.port(),
            "[pgbouncer]",
            "listen_addr = " + host(),
            "listen_port = " + port(),
            "unix_socket_dir =",
            "auth_type = scram-sha-256",
            "auth_file = " + users(),
            "pool_mode = transaction",
            "default_pool_size = " + connections,
            "max_client_conn = 1000",
            "max_prepared_statements = 200",
            "ignore_startup_parameters = extra_float_digits"));
  }

  private Path users() {
    return folder().resolve("users.txt");
  }

  private Path settings() {
    return folder().resolve("pgbouncer.ini");
  }

  @Override
  List<String> command() {
    List<String> command = PostgresServer.notAsRoot(program);
    command.add(settings().toString());
    return command;
  }

  @Override
  boolean answers() throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(host(), port()), CONNECT_MILLIS);
      return true;
    }
  }

  /** Ends at once, whoever is connected. */
  @Override
  String stopSignal() {
    return "QUIT";
  }
}

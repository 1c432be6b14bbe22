package io.pawl.servers;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * One connection that speaks RESP2 or RESP3 to a Redis server, for tests that set it up, look
 * inside it or check it by a second route. For one thread at a time.
 *
 * <p>Replies are Java values: String, Long, Double, Boolean, List (a map is the list of its keys
 * and values), {@code null}, and inside a list RespException.
 */
public final class RespConnection implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final int LONGEST_BULK = 64 << 20;

  /** A RESP3 frame that is no reply, such as a published message. */
  public record Push(List<@Nullable Object> items) {}

  /** An error reply of a Redis server, such as {@code NOAUTH Authentication required.} */
  public static final class RespException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RespException(String reply) {
      super(reply);
    }

    /**
     * Returns the first word of the reply: {@code ERR}, {@code NOAUTH}, {@code MOVED} and so on.
     */
    public String code() {
      return String.valueOf(getMessage()).split(" ", 2)[0];
    }
  }

  private final Socket socket;
  private final InputStream in;
  private final Deque<Push> pushes = new ArrayDeque<>();

  private RespConnection(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  public static RespConnection open(String host, int port) throws IOException {
    Socket socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(host, port), (int) PATIENCE.toMillis());
      return over(socket);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  public static RespConnection open(String host, int port, SSLContext tls) throws IOException {
    return over(tls.getSocketFactory().createSocket(host, port));
  }

  private static RespConnection over(Socket socket) throws IOException {
    socket.setTcpNoDelay(true);
    socket.setSoTimeout((int) PATIENCE.toMillis());
    return new RespConnection(socket);
  }

  /**
   * Sends a command and returns its reply; pushes that come before it are kept for {@link #read}.
   *
   * @throws RespException if the reply is an error
   * @throws UncheckedIOException if there is no reply within 5 seconds
   */
  public @Nullable Object call(String... command) {
    try {
      send(command);
      Object reply = readFrame();
      while (reply instanceof Push push) {
        pushes.add(push);
        reply = readFrame();
      }
      if (reply instanceof RespException error) {
        throw error;
      }
      return reply;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends a command and does not wait for its reply, which {@link #read} returns. */
  public void send(String... command) throws IOException {
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    frame.writeBytes(("*" + command.length + "\r\n").getBytes(UTF_8));
    for (String word : command) {
      byte[] bytes = word.getBytes(UTF_8);
      frame.writeBytes(("$" + bytes.length + "\r\n").getBytes(UTF_8));
      frame.writeBytes(bytes);
      frame.writeBytes("\r\n".getBytes(UTF_8));
    }
    socket.getOutputStream().write(frame.toByteArray());
  }

  /**
   * Returns the next push or reply, an error as a value.
   *
   * @throws java.net.SocketTimeoutException if nothing comes in time
   */
  public @Nullable Object read(Duration within) throws IOException {
    Push kept = pushes.poll();
    if (kept != null) {
      return kept;
    }
    socket.setSoTimeout(Math.max(1, (int) within.toMillis()));
    try {
      return readFrame();
    } finally {
      socket.setSoTimeout((int) PATIENCE.toMillis());
    }
  }

  private @Nullable Object readFrame() throws IOException {
    String line = readLine();
    String rest = line.substring(1);
    return switch (line.charAt(0)) {
      case '+', '(' -> rest;
      case '-' -> new RespException(rest);
      case ':' -> Long.valueOf(rest);
      case ',' -> Double.valueOf(rest.replace("inf", "Infinity"));
      case '#' -> rest.equals("t");
      case '_' -> null;
      case '$', '=' -> readBulk(Integer.parseInt(rest));
      case '!' -> new RespException(String.valueOf(readBulk(Integer.parseInt(rest))));
      case '*', '~' -> readList(Integer.parseInt(rest));
      case '%' -> readList(2 * Integer.parseInt(rest));
      case '>' -> new Push(readItems(Integer.parseInt(rest)));
      default -> throw new IOException("not a RESP frame: " + line);
    };
  }

  private @Nullable List<@Nullable Object> readList(int size) throws IOException {
    return size < 0 ? null : readItems(size);
  }

  private List<@Nullable Object> readItems(int size) throws IOException {
    List<@Nullable Object> items = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      items.add(readFrame());
    }
    return items;
  }

  private @Nullable String readBulk(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    if (length > LONGEST_BULK) {
      throw new IOException("a reply of " + length + " bytes");
    }
    byte[] bytes = in.readNBytes(length + 2);
    if (bytes.length < length + 2) {
      throw new EOFException("the server closed the connection inside a reply");
    }
    return new String(bytes, 0, length, UTF_8);
  }

  private String readLine() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    int b;
    while ((b = in.read()) != '\n') {
      if (b < 0) {
        throw new EOFException("the server closed the connection");
      }
      if (b != '\r') {
        line.write(b);
      }
    }
    if (line.size() == 0) {
      throw new IOException("an empty line is not a RESP frame");
    }
    return line.toString(UTF_8);
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

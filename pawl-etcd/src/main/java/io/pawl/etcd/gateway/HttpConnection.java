package io.pawl.etcd.gateway;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * One connection that speaks HTTP/1.1, one request after another. Blocks. After an exception it is
 * of no use any more. Not thread-safe, except {@link #close}.
 */
final class HttpConnection implements Closeable {

  /** The longest answer: 64 MiB. */
  private static final long LONGEST_BODY = 64L << 20;

  private static final int LONGEST_LINE = 16 << 10;

  private static final Pattern STATUS = Pattern.compile("HTTP/1\\.[01] \\d{3}( .*)?");

  /** A connection that was idle for so long may have been closed meanwhile: 50 ms. */
  private static final long MAY_BE_STALE_NANOS = 50_000_000;

  private final Endpoint endpoint;
  private final WriteLimits limits;
  private final Socket plain;
  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;
  private final byte[] buffer = new byte[16 << 10];
  private int position;
  private int filled;
  private boolean last;
  private long usedAt = System.nanoTime();

  private HttpConnection(Endpoint endpoint, WriteLimits limits, Socket plain, Socket socket)
      throws IOException {
    this.endpoint = endpoint;
    this.limits = limits;
    this.plain = plain;
    this.socket = socket;
    this.in = socket.getInputStream();
    this.out = socket.getOutputStream();
  }

  /** What a server answered. */
  record Response(int status, byte[] body) {}

  /**
   * Connects, at the latest at {@code deadline}, or fails when {@code hosts} or {@code limits} are
   * closed.
   *
   * @param deadline in terms of {@link System#nanoTime}
   */
  static HttpConnection open(
      Target target, Hosts hosts, WriteLimits limits, Endpoint endpoint, long deadline)
      throws IOException {
    Found found = Found.by(hosts, endpoint, deadline);
    Socket plain = new Socket();
    limits.writes(plain, deadline);
    try {
      plain.setTcpNoDelay(true);
      plain.setKeepAlive(true);
      found.connect(plain, deadline);
      SSLSocketFactory tls = target.tls();
      Socket socket = plain;
      if (tls != null) {
        plain.setSoTimeout(millisUntil(deadline));
        socket = securedInTime(tls, plain, endpoint, target.checksHost(), deadline);
      }
      return new HttpConnection(endpoint, limits, plain, socket);
    } catch (IOException | RuntimeException | Error e) {
      plain.close();
      throw e;
    } finally {
      limits.written(plain);
    }
  }

  /**
   * Where a member is.
   *
   * @param address without numbers where the system knows none: a SOCKS proxy of the process may
   * @param unknown why it knows none, null where it does
   */
  private record Found(InetSocketAddress address, @Nullable UnknownHostException unknown) {

    static Found by(Hosts hosts, Endpoint endpoint, long deadline) throws IOException {
      try {
        InetAddress host = hosts.find(endpoint.host(), deadline);
        return new Found(new InetSocketAddress(host, endpoint.port()), null);
      } catch (UnknownHostException e) {
        return new Found(InetSocketAddress.createUnresolved(endpoint.host(), endpoint.port()), e);
      }
    }

    /** Java itself would name the host alone. */
    void connect(Socket plain, long deadline) throws IOException {
      try {
        plain.connect(address, millisUntil(deadline));
      } catch (UnknownHostException e) {
        throw unknown == null ? e : unknown;
      }
    }
  }

  /** However slowly the other side says one byte after another. */
  private static Socket securedInTime(
      SSLSocketFactory tls, Socket plain, Endpoint endpoint, boolean checksHost, long deadline)
      throws IOException {
    try {
      return secured(tls, plain, endpoint, checksHost);
    } catch (IOException e) {
      throw System.nanoTime() - deadline < 0
          ? e
          : new SocketTimeoutException("TLS was not agreed on in time");
    }
  }

  private static Socket secured(
      SSLSocketFactory tls, Socket plain, Endpoint endpoint, boolean checksHost)
      throws IOException {
    SSLSocket secure = (SSLSocket) tls.createSocket(plain, endpoint.host(), endpoint.port(), true);
    if (checksHost) {
      SSLParameters parameters = secure.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      secure.setSSLParameters(parameters);
    }
    secure.startHandshake();
    return secure;
  }

  private static int millisUntil(long deadline) throws SocketTimeoutException {
    long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
    if (millis <= 0) {
      throw new SocketTimeoutException("no answer in time");
    }
    return (int) Math.min(millis, Integer.MAX_VALUE);
  }

  Endpoint endpoint() {
    return endpoint;
  }

  /** Whether the server has said that it closes the connection behind its last answer. */
  boolean isLast() {
    return last;
  }

  /**
   * Whether the other side closed it while it was idle. Takes a millisecond if it was for long
   * enough to look.
   */
  boolean isStale() {
    if (System.nanoTime() - usedAt < MAY_BE_STALE_NANOS) {
      return false;
    }
    try {
      socket.setSoTimeout(1);
      in.read(); // whatever comes unasked is no answer
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  /** Sends a request and reads the answer, at the latest until {@code deadline}. */
  Response exchange(String method, String path, String body, @Nullable String token, long deadline)
      throws IOException {
    send(method, path, body, token, deadline);
    int status = status(deadline);
    Headers headers = headers(deadline);
    byte[] answer = headers.chunked ? chunks(deadline) : bytes(headers.length, deadline);
    usedAt = System.nanoTime();
    return new Response(status, answer);
  }

  /** Sends a request whose answer is a stream of lines; returns the status of the answer. */
  int begin(String path, String body, @Nullable String token, long deadline) throws IOException {
    send("POST", path, body, token, deadline);
    int status = status(deadline);
    Headers headers = headers(deadline);
    if (!headers.chunked) {
      throw new IOException("HTTP " + status + " to " + path + ", not a stream");
    }
    return status;
  }

  /** Reads the next chunk of a stream, however long it takes; empty at its end. */
  byte[] chunk() throws IOException {
    socket.setSoTimeout(0);
    return chunk(0);
  }

  private void send(String method, String path, String body, @Nullable String token, long deadline)
      throws IOException {
    byte[] bytes = body.getBytes(UTF_8);
    StringBuilder head = new StringBuilder(200).append(method).append(' ').append(path);
    head.append(" HTTP/1.1\r\nHost: ").append(endpoint);
    head.append("\r\nContent-Type: application/json\r\nContent-Length: ").append(bytes.length);
    if (token != null) {
      head.append("\r\nAuthorization: ").append(token);
    }
    byte[] first = head.append("\r\n\r\n").toString().getBytes(ISO_8859_1);
    byte[] all = new byte[first.length + bytes.length];
    System.arraycopy(first, 0, all, 0, first.length);
    System.arraycopy(bytes, 0, all, first.length, bytes.length);
    limits.writes(this, deadline);
    try {
      out.write(all);
      out.flush();
    } catch (IOException e) {
      throw System.nanoTime() - deadline < 0
          ? e
          : new SocketTimeoutException(all.length + " bytes were not taken in time");
    } finally {
      limits.written(this);
    }
  }

  /** Of the answer itself: an interim one, which a proxy may send first, says nothing yet. */
  private int status(long deadline) throws IOException {
    int status = statusLine(deadline);
    while (status >= 100 && status < 200) {
      headers(deadline);
      status = statusLine(deadline);
    }
    return status;
  }

  private int statusLine(long deadline) throws IOException {
    String line = line(deadline);
    if (!STATUS.matcher(line).matches()) {
      throw new IOException("the answer is not HTTP/1.1");
    }
    last = line.startsWith("HTTP/1.0");
    return Integer.parseInt(line.substring(9, 12));
  }

  private record Headers(boolean chunked, long length) {}

  private Headers headers(long deadline) throws IOException {
    boolean chunked = false;
    long length = 0;
    int count = 0;
    for (String line = line(deadline); !line.isEmpty(); line = line(deadline)) {
      String lower = line.toLowerCase(Locale.ROOT);
      if (lower.startsWith("content-length:")) {
        length = number(lower.substring(15).strip(), 10);
      }
      last |= lower.startsWith("connection:") && lower.endsWith("close");
      chunked |= lower.startsWith("transfer-encoding:") && lower.endsWith("chunked");
      if (++count > 100) {
        throw new IOException("the answer has more than 100 headers");
      }
    }
    return new Headers(chunked, length);
  }

  private static long number(String text, int radix) throws IOException {
    try {
      long number = Long.parseLong(text, radix);
      if (number < 0 || number > LONGEST_BODY) {
        throw new IOException("an answer of " + number + " bytes is longer than 64 MiB");
      }
      return number;
    } catch (NumberFormatException e) {
      throw new IOException("the answer's length is not a number", e);
    }
  }

  private byte[] chunks(long deadline) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] next = chunk(deadline); next.length > 0; next = chunk(deadline)) {
      all.writeBytes(next);
      if (all.size() > LONGEST_BODY) {
        throw new IOException("the answer is longer than 64 MiB");
      }
    }
    return all.toByteArray();
  }

  private byte[] chunk(long deadline) throws IOException {
    String size = line(deadline);
    int end = size.indexOf(';');
    long length = number((end < 0 ? size : size.substring(0, end)).strip(), 16);
    byte[] chunk = bytes(length, deadline);
    if (length > 0) {
      line(deadline);
      return chunk;
    }
    while (!line(deadline).isEmpty()) {
      // trailers
    }
    return chunk;
  }

  private byte[] bytes(long length, long deadline) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream((int) Math.min(length, 64 << 10));
    for (long left = length; left > 0; ) {
      fill(deadline);
      int some = (int) Math.min(left, filled - position);
      bytes.write(buffer, position, some);
      position += some;
      left -= some;
    }
    return bytes.toByteArray();
  }

  private String line(long deadline) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(64);
    while (line.size() < LONGEST_LINE) {
      fill(deadline);
      byte next = buffer[position++];
      if (next == '\n') {
        String text = line.toString(ISO_8859_1);
        return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
      }
      line.write(next);
    }
    throw new IOException("the answer has a line of more than 16 KiB");
  }

  /**
   * @param deadline 0 for none
   */
  private void fill(long deadline) throws IOException {
    if (position < filled) {
      return;
    }
    if (deadline != 0) {
      socket.setSoTimeout(millisUntil(deadline));
    }
    int count = in.read(buffer);
    if (count < 0) {
      throw new EOFException("the server closed the connection");
    }
    position = 0;
    filled = count;
  }

  /** Whatever another thread does with it: closing a socket of TLS would wait for a write. */
  @Override
  public void close() {
    try {
      plain.close();
    } catch (IOException e) {
      // it is of no use any more
    }
  }
}

package io.pawl.etcd;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.EtcdServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A proxy that sends an interim answer before each answer, as HTTP/1.1 allows it to. */
class InterimAnswersTest {

  private static final byte[] INTERIM =
      "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n".getBytes(ISO_8859_1);

  private final EtcdServer server = EtcdServer.start(Urls.QUICK);
  private final ServerSocket proxy = listening();
  private final List<Closeable> open = new CopyOnWriteArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private volatile byte[] beforeEachAnswer = new byte[0];

  private static ServerSocket listening() {
    try {
      return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @AfterEach
  void close() throws IOException {
    proxy.close();
    for (Closeable each : open) {
      each.close();
    }
    threads.shutdownNow();
    server.close();
  }

  private void accept() {
    while (!proxy.isClosed()) {
      try {
        Socket client = proxy.accept();
        open.add(client);
        Socket member = new Socket(server.host(), server.port());
        open.add(member);
        threads.execute(() -> pass(client, member));
        threads.execute(() -> pass(member, client));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void pass(Socket from, Socket to) {
    byte[] some = new byte[1 << 16];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int count = in.read(some); count > 0; count = in.read(some)) {
        if (new String(some, 0, count, ISO_8859_1).startsWith("HTTP/1.1 ")) {
          out.write(beforeEachAnswer);
        }
        out.write(some, 0, count);
      }
    } catch (IOException e) {
      return;
    }
  }

  @Test
  void p1_oneHolder_noAnswerIsTakenForThatToAnotherRequest() {
    threads.execute(this::accept);
    try (EtcdStore near = EtcdStore.connect(Urls.of(server));
        EtcdStore store =
            EtcdStore.connect("etcd://127.0.0.1:" + proxy.getLocalPort() + "?timeout=1s")) {
      Seam other = new Seam(near);
      Seam seam = new Seam(store);
      other.take(other.claim("busy"));
      seam.take(seam.claim("warm"));
      beforeEachAnswer = INTERIM;

      for (int i = 0; i < 20; i++) {
        answer(store.attempt(seam.claim("free" + i).as(Mode.EXCLUSIVE), standing -> {}));
        Claim busy = seam.claim("busy").as(Mode.EXCLUSIVE);

        assertThat(answer(store.attempt(busy, standing -> {})))
            .isNotInstanceOf(Standing.Held.class);
      }
      assertThat(seam.attempt(seam.claim("busy").as(Mode.EXCLUSIVE))).isEqualTo(Standing.GONE);
    }
  }

  private static Object answer(CompletionStage<Standing> attempt) {
    return Seam.answer(attempt.handle((standing, error) -> standing == null ? error : standing));
  }
}

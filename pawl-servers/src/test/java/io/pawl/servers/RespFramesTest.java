package io.pawl.servers;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.RespFrames.Verdict;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RespFramesTest {
  private static final List<String> FRAMES =
      List.of(
          "+OK\r\n",
          "-ERR no\r\n",
          ":12\r\n",
          "$-1\r\n",
          "$0\r\n\r\n",
          "$12\r\n*3\r\n$7\r\nmess\r\n",
          "*0\r\n",
          "*-1\r\n",
          "*1\r\n*0\r\n",
          "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\n\r\n\r\n",
          ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n",
          ">2\r\n+message\r\n:1\r\n",
          "*2\r\n*2\r\n$7\r\nmessage\r\n$-1\r\n%1\r\n+k\r\n~1\r\n,1.5\r\n",
          "*1\r\n$100\r\n" + "x".repeat(100) + "\r\n",
          "%2\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n*1\r\n_\r\n",
          "|1\r\n+ttl\r\n:3600\r\n$1\r\nv\r\n",
          "#t\r\n",
          "=5\r\ntxt:a\r\n",
          "PING\r\n",
          "*1\r\n$4\r\nPING\r\n");

  private static final List<String> WORDS =
      List.of(
          "+",
          "-",
          ":",
          "$",
          "$",
          "$",
          "*",
          "*",
          "*",
          "*message",
          ">message",
          ">",
          "*",
          "*",
          "%",
          "|",
          "#",
          "=",
          "P",
          "*PING");

  @Test
  void framesAreJudgedOnceHoweverTheyAreChunked() {
    byte[] all = String.join("", FRAMES).getBytes(UTF_8);
    for (int chunk = 1; chunk <= all.length; chunk++) {
      List<String> judged = new ArrayList<>();
      RespFrames frames =
          new RespFrames(
              (type, word) -> {
                judged.add(type + word);
                return Verdict.PASS;
              });
      assertThat(pass(frames, all, chunk)).isEqualTo(String.join("", FRAMES));
      assertThat(judged).isEqualTo(WORDS);
    }
  }

  @Test
  void droppedFrameTakesNoByteOfItsNeighbours() {
    byte[] all = String.join("", FRAMES).getBytes(UTF_8);
    for (int dropped = 0; dropped < FRAMES.size(); dropped++) {
      List<String> kept = new ArrayList<>(FRAMES);
      kept.remove(dropped);
      for (int chunk : new int[] {1, 2, 7, all.length}) {
        int[] left = {dropped};
        RespFrames frames =
            new RespFrames((type, word) -> left[0]-- == 0 ? Verdict.DROP : Verdict.PASS);
        assertThat(pass(frames, all, chunk)).isEqualTo(String.join("", kept));
      }
    }
  }

  @Test
  void nothingFollowsTheEnd() {
    byte[] all = "+a\r\n+b\r\n+c\r\n".getBytes(UTF_8);
    int[] left = {1};
    RespFrames frames = new RespFrames((type, word) -> left[0]-- == 0 ? Verdict.END : Verdict.PASS);
    assertThat(pass(frames, all, 5)).isEqualTo("+a\r\n");
    assertThat(frames.hasEnded()).isTrue();
  }

  private static String pass(RespFrames frames, byte[] all, int chunk) {
    ByteArrayOutputStream passed = new ByteArrayOutputStream();
    for (int at = 0; at < all.length; at += chunk) {
      int n = Math.min(chunk, all.length - at);
      byte[] part = new byte[n];
      System.arraycopy(all, at, part, 0, n);
      passed.writeBytes(frames.pass(part, n));
    }
    return passed.toString(UTF_8);
  }
}

package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Held to what Lettuce's own arguments write. */
class ScriptArgsTest {

  private static final String LETTERS = "aZ0.:{}\r\n$*é€😀\u0000";

  private final Random random = new Random(1);

  private String word() {
    int length = random.nextInt(3) == 0 ? random.nextInt(2_000) : random.nextInt(12);
    int[] letters = LETTERS.codePoints().toArray();
    StringBuilder word = new StringBuilder();
    for (int i = 0; i < length; i++) {
      word.appendCodePoint(letters[random.nextInt(letters.length)]);
    }
    return word.toString();
  }

  private List<String> words() {
    List<String> words = new ArrayList<>();
    for (int i = random.nextInt(120); i > 0; i--) {
      words.add(word());
    }
    return words;
  }

  private static byte[] written(CommandArgs<String, String> args) {
    ByteBuf buffer = Unpooled.buffer();
    args.encode(buffer);
    byte[] bytes = new byte[buffer.readableBytes()];
    buffer.readBytes(bytes);
    return bytes;
  }

  @Test
  void writesWhateverWordsAsLettuceDoes() {
    for (int i = 0; i < 300; i++) {
      String script = word();
      List<String> keys = words();
      List<String> values = words();
      CommandArgs<String, String> theirs =
          new CommandArgs<>(StringCodec.UTF8)
              .add(script)
              .add(keys.size())
              .addKeys(keys)
              .addValues(values);

      Verbs.ScriptArgs ours = new Verbs.ScriptArgs(script, keys, values);

      assertThat(ours.count()).isEqualTo(theirs.count());
      assertThat(written(ours)).isEqualTo(written(theirs));
      assertThat(ours.getFirstEncodedKey()).isEqualTo(theirs.getFirstEncodedKey());
    }
  }
}

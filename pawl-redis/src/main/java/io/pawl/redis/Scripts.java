package io.pawl.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** The verbs in Lua, each in its file beside this class, with what they share in others. */
record Scripts(
    Script attempt,
    Script renew,
    Script withdraw,
    Script evict,
    Script kind,
    Script show,
    Script count,
    Script basket,
    Script ledger,
    Script prune) {

  /**
   * @param sha by which the server knows the text once it has seen it
   */
  record Script(String text, String sha) {}

  private static final List<String> SHARED =
      List.of("layout.lua", "hash.lua", "rule.lua", "counter.lua", "request.lua");

  static Scripts load() {
    return load(UnaryOperator.identity());
  }

  /**
   * @param change what a test wants otherwise, such as another clock
   */
  static Scripts load(UnaryOperator<String> change) {
    Function<String, Script> verb = name -> script(change.apply(whole(name)));
    return new Scripts(
        verb.apply("attempt.lua"),
        verb.apply("renew.lua"),
        verb.apply("withdraw.lua"),
        verb.apply("evict.lua"),
        verb.apply("kind.lua"),
        verb.apply("show.lua"),
        verb.apply("count.lua"),
        verb.apply("basket.lua"),
        verb.apply("ledger.lua"),
        verb.apply("prune.lua"));
  }

  /** A line that is a comment with nothing but the name of a shared file stands for that file. */
  private static String whole(String file) {
    String source = read(file);
    for (String shared : SHARED) {
      String place = "-- " + shared + "\n";
      if (source.contains(place)) {
        source = source.replace(place, read(shared));
      }
    }
    return source;
  }

  /** The script of {@link RedisFence}. */
  static Script fence() {
    return script(read("fence.lua"));
  }

  private static Script script(String source) {
    String text = withoutComments(source);
    try {
      byte[] sha = MessageDigest.getInstance("SHA-1").digest(text.getBytes(UTF_8));
      return new Script(text, HexFormat.of().formatHex(sha));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-1", e);
    }
  }

  /** They are for readers of the files, not for the server's memory. */
  private static String withoutComments(String source) {
    return source.replaceAll("(?m)^ *--.*\n", "").replaceAll("(?m) +-- .*$", "");
  }

  private static String read(String file) {
    try (InputStream in = Scripts.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException(file + " is not beside " + Scripts.class);
      }
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

package io.pawl.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.UnaryOperator;

/** The verbs in Lua, each in its file beside this class, with what they share in rule.lua. */
record Scripts(
    Script attempt, Script renew, Script withdraw, Script evict, Script kind, Script show) {

  /**
   * @param sha by which the server knows the text once it has seen it
   */
  record Script(String text, String sha) {}

  private static final String PLACE_OF_RULE = "-- rule.lua\n";

  static Scripts load() {
    return load(UnaryOperator.identity());
  }

  /**
   * @param change what a test wants otherwise, such as another clock
   */
  static Scripts load(UnaryOperator<String> change) {
    String rule = read("rule.lua");
    UnaryOperator<String> verb = name -> change.apply(read(name).replace(PLACE_OF_RULE, rule));
    return new Scripts(
        script(verb.apply("attempt.lua")),
        script(verb.apply("renew.lua")),
        script(verb.apply("withdraw.lua")),
        script(verb.apply("evict.lua")),
        script(verb.apply("kind.lua")),
        script(change.apply(read("show.lua"))));
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

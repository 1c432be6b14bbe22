package io.pawl.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The verbs in Lua, each in its file in a folder beside this class, with what they share in others.
 */
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

  /** A line that is a comment with nothing but the name of a file stands for that file. */
  private static final Pattern LOADED = Pattern.compile("(?m)^-- (\\S+\\.lua)\n");

  /** Of {@code numbers.lua}, by their names. */
  static final Map<String, String> NUMBERS =
      Pattern.compile("(?m)^local (\\w+) = (-?\\d+)")
          .matcher(read("numbers.lua"))
          .results()
          .collect(Collectors.toMap(number -> number.group(1), number -> number.group(2)));

  private static final Pattern NAME = Pattern.compile("\\b[A-Z][A-Z_]++\\b");

  static Scripts load() {
    return load(UnaryOperator.identity());
  }

  /**
   * @param change what a test wants otherwise, such as another clock
   */
  static Scripts load(UnaryOperator<String> change) {
    Function<String, Script> verb = name -> script(change.apply(whole(name)));
    return new Scripts(
        verb.apply("lock/attempt.lua"),
        verb.apply("lock/renew.lua"),
        verb.apply("lock/withdraw.lua"),
        verb.apply("lock/evict.lua"),
        verb.apply("lock/kind.lua"),
        verb.apply("lock/show.lua"),
        verb.apply("counter/count.lua"),
        verb.apply("counter/basket.lua"),
        verb.apply("counter/ledger.lua"),
        verb.apply("counter/prune.lua"));
  }

  private static String whole(String file) {
    return LOADED
        .matcher(read(file))
        .replaceAll(loaded -> Matcher.quoteReplacement(read(loaded.group(1))));
  }

  /** The scripts of a node of a quorum, for which a claim may last for {@code longestLease}. */
  record Voting(Script attempt, Script incarnation) {
    static Voting load(Duration longestLease) {
      String millis = Long.toString(longestLease.toMillis());
      String attempt =
          whole("lock/attempt.lua")
              .replace("local raises = false", "local raises = true")
              .replace("local above = 0", "");
      return new Voting(
          script(
              (whole("lock/vote.lua")
                      + "local function attempts()\n"
                      + attempt
                      + "end\n"
                      + whole("lock/voted.lua"))
                  .replace("LEASE_IN_MS", millis)),
          script(whole("lock/incarnation.lua").replace("LEASE_IN_MS", millis)));
    }
  }

  /** The script of {@link RedisFence}. */
  static Script fence() {
    return script(read("fence/fence.lua"));
  }

  private static Script script(String source) {
    String text = withNumbers(withoutComments(source));
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

  private static String withNumbers(String source) {
    return NAME.matcher(source)
        .replaceAll(name -> NUMBERS.getOrDefault(name.group(), name.group()));
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

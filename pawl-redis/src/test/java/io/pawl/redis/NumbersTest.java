package io.pawl.redis;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.Kind;
import io.pawl.spi.Tokens;
import io.pawl.spi.rule.GrantRule;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What Java and the scripts must agree on is said once in Lua, and there as in Java. */
class NumbersTest {

  private static final Map<String, Number> IN_JAVA =
      Map.ofEntries(
          entry("MAX_WAITERS", GrantRule.MAX_WAITERS),
          entry("MAX_WITHDRAWN", GrantRule.MAX_WITHDRAWN),
          entry("WITHDRAWN_KEPT", GrantRule.WITHDRAWN_KEPT_MILLIS),
          entry("QUEUE_FULL_ASK_AGAIN", GrantRule.QUEUE_FULL_ASK_AGAIN_MILLIS),
          entry("LONG_LEASE", Claim.LONG_LEASE_MILLIS),
          entry("ALL_OF_A_LOCK", GrantRule.ALL_OF_A_LOCK),
          entry("LOCK", Kind.LOCK.capacity()),
          entry("MAX_TOKENS", 1 + GrantRule.MAX_FOLLOWERS),
          entry("TOKENS_PER_MICROSECOND", RedisStore.TOKENS_PER_MICROSECOND),
          entry("LARGEST", Tokens.MAX), // which Amounts.MAX is too
          entry("UNIT", StoredCounter.FORGOTTEN_UNIT),
          entry("GONE", Replies.GONE),
          entry("TOKENS_USED_UP", Replies.TOKENS_USED_UP),
          entry("OTHER_KIND", Replies.OTHER_KIND),
          entry("IS_A_COUNTER", Replies.IS_A_COUNTER),
          entry("OTHER_LONGEST_LEASE", Replies.OTHER_LONGEST_LEASE),
          entry("NO_VOTE_YET", Replies.NO_VOTE_YET),
          entry("NO_COUNTER", RedisCounters.NO_COUNTER),
          entry("APPLIED", RedisCounters.APPLIED),
          entry("REFUSED", RedisCounters.REFUSED),
          entry("CONFLICT", RedisCounters.CONFLICT),
          entry("CONFLICT_ELSEWHERE", RedisCounters.CONFLICT_ELSEWHERE),
          entry("TOO_OLD", RedisCounters.TOO_OLD),
          entry("AGAIN", RedisCounters.AGAIN),
          entry("IS_A_LOCK", RedisCounters.IS_A_LOCK),
          entry("TO_COME", RedisCounters.TO_COME));

  private static final Set<String> OF_THE_SCRIPTS_ALONE =
      Set.of("MEMORY", "TOKENS_AHEAD", "UNNOTED", "SPARE", "MAX_RUN", "MAX_ARGUMENTS");

  private static final Set<String> UNITS_OF_TIME = Set.of("1000", "1000000");

  private static final Pattern LARGE = Pattern.compile("\\b\\d{2,}\\b");

  private static Path resource(String name) throws URISyntaxException {
    URL found = Objects.requireNonNull(Scripts.class.getResource(name));
    return Path.of(found.toURI());
  }

  @Test
  void eachNumberIsThatOfJava() throws IOException, URISyntaxException {
    Map<String, String> expected = new HashMap<>();
    IN_JAVA.forEach((name, number) -> expected.put(name, number.toString()));
    Map<String, String> found = new HashMap<>(Scripts.NUMBERS);
    assertThat(found.keySet()).containsAll(OF_THE_SCRIPTS_ALONE);
    found.keySet().removeAll(OF_THE_SCRIPTS_ALONE);

    assertThat(found).isEqualTo(expected);
    assertThat(Files.readAllLines(resource("numbers.lua")))
        .filteredOn(line -> line.startsWith("local "))
        .hasSameSizeAs(Scripts.NUMBERS.keySet());
  }

  @Test
  void everyOtherNumberOfAScriptHasANameOfItsOwn() throws IOException, URISyntaxException {
    List<Path> scripts;
    try (Stream<Path> files = Files.walk(resource("numbers.lua").getParent())) {
      scripts =
          files
              .filter(file -> file.toString().endsWith(".lua"))
              .filter(file -> !file.endsWith("numbers.lua"))
              .toList();
    }
    assertThat(scripts).hasSizeGreaterThan(10);
    for (Path script : scripts) {
      for (String line : Files.readAllLines(script)) {
        String code = line.replaceAll("'[^']*'", "''").replaceAll("--.*", "");
        assertThat(LARGE.matcher(code).results().map(MatchResult::group))
            .as("%s: %s", script.getFileName(), line)
            .allMatch(number -> UNITS_OF_TIME.contains(number) || isOnlyOf(code, number));
      }
    }
  }

  private static boolean isOnlyOf(String line, String number) {
    return line.matches("local [A-Z_]+ = " + number + "\\s*")
        && !Scripts.NUMBERS.containsValue(number);
  }
}

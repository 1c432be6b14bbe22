package io.pawl.redis;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisScriptingCommands;
import io.pawl.error.StaleTokenException;
import io.pawl.redis.Scripts.Script;
import io.pawl.spi.LockName;
import io.pawl.spi.Tokens;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Refuses the writes of a holder that has been superseded, inside Redis: one script compares the
 * token with the largest seen, remembers it, and writes the value. No clock decides: a value under
 * a smaller token than one already seen is not written, however long a process was paused.
 *
 * <pre>{@code
 * RedisFence fence = new RedisFence(connection.sync(), Duration.ofDays(7));
 * try (Lease lease = lock.acquire()) {
 *   fence.set("report", text, lease.token());
 * }
 * }</pre>
 *
 * <p>The token of each key is kept in {@code pawl:fence:{key}key}, in the same slot of a Cluster.
 * Token and value are replicated together, so a failover loses both or neither: a writer that was
 * overtaken is accepted again only if the write that overtook it is gone as well. Not covered: the
 * loss of the fence's key alone, by DEL or by eviction (set {@code maxmemory-policy noeviction}).
 *
 * <p>The fence uses the application's own connection and throws what that throws. In a transaction
 * of that (MULTI) it cannot know, and throws {@link IllegalStateException}. Thread-safe if the
 * connection is.
 */
public final class RedisFence {

  private static final Duration SHORTEST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofDays(3_650);

  private final RedisScriptingCommands<String, String> redis;
  private final String keepMillis;
  private final Script script = Scripts.fence();

  /**
   * @param redis the commands, such as {@code connection.sync()}, of a single server or a Cluster
   * @param keep how long the largest token is remembered after the last accepted write, 1 s to 10
   *     years: longer than any holder can be paused for and still write
   */
  public RedisFence(RedisScriptingCommands<String, String> redis, Duration keep) {
    if (keep.compareTo(SHORTEST) < 0 || keep.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          "tokens kept for " + keep + ": is not between 1 s and 10 years");
    }
    this.redis = redis;
    this.keepMillis = Long.toString(keep.toMillis());
  }

  /**
   * Sets {@code key} to {@code value} if no larger token was seen for that key. One round trip.
   *
   * @param key 1 to 512 bytes of UTF-8 without control characters
   * @throws StaleTokenException when a larger token was seen; nothing is written, unless Lettuce
   *     has sent the command twice, since its connection broke: the first copy may have come before
   *     that token
   */
  public void set(String key, String value, long token) {
    ask(key, token, new String[] {fenceOf(key), key}, Long.toString(token), keepMillis, value);
  }

  /**
   * Accepts {@code token} if no larger one was seen for {@code resource}, without writing anything.
   * A write that follows in another command can come after a later holder's write. One round trip.
   *
   * @param resource the name of what is protected, as for a key of {@link #set}
   * @throws StaleTokenException when a larger token was seen
   */
  public void accept(String resource, long token) {
    ask(resource, token, new String[] {fenceOf(resource)}, Long.toString(token), keepMillis);
  }

  private void ask(String resource, long token, String[] keys, String... values) {
    if (token < 1 || token > Tokens.MAX) {
      throw new IllegalArgumentException(
          "token of '" + resource + "': " + token + " is not between 1 and 2^53 - 1");
    }
    @Nullable Long seen;
    try {
      seen = redis.evalsha(script.sha(), ScriptOutputType.INTEGER, keys, values);
    } catch (RedisNoScriptException e) {
      seen = redis.eval(script.text(), ScriptOutputType.INTEGER, keys, values);
    }
    if (seen == null) {
      throw new IllegalStateException(
          "token of '"
              + resource
              + "': the connection is in a transaction, which answers at its end; give the fence a"
              + " connection of its own");
    }
    if (seen > 0) {
      throw new StaleTokenException(
          "token " + token + " for '" + resource + "' is stale: " + seen + " has been here", token);
    }
  }

  /** A key in the slot of {@code key}, whatever braces that has. */
  static String fenceOf(String key) {
    LockName.check(key);
    int open = key.indexOf('{');
    int close = open < 0 ? -1 : key.indexOf('}', open + 1);
    String tag = close > open + 1 ? key.substring(open + 1, close) : key;
    if (tag.indexOf('}') >= 0) {
      throw new IllegalArgumentException(
          "key '" + key + "': has a '}' that closes nothing; leave it out");
    }
    return "pawl:fence:{" + tag + "}" + key;
  }
}

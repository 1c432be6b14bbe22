package io.pawl.etcd;

import io.pawl.error.StoreException;
import io.pawl.etcd.gateway.Json;
import io.pawl.etcd.gateway.KeyValue;
import io.pawl.spi.Claim;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.Tokens;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The value of a claim's key, JSON that a person can read.
 *
 * @param tokens how many tokens its hold has, 1 to {@link #MOST_TOKENS}
 * @param base what is added to its create revision's tokens, see {@link StoredKind}
 * @param granted whether it is held whatever stands before it
 * @param ended whether it was withdrawn, and stands in the way until its shortest hold is over
 * @param since when it joined, by its client's clock
 */
record StoredClaim(
    Mode mode,
    int tokens,
    long base,
    boolean granted,
    boolean ended,
    Instant since,
    Holder holder) {

  private static final int TOKEN_BITS = 10;

  /** The tokens of one create revision. */
  static final int MOST_TOKENS = 1 << TOKEN_BITS;

  /** After it tokens would pass 2^53. */
  static final long LAST_REVISION = (1L << (53 - TOKEN_BITS)) - 1;

  static StoredClaim of(Claim claim, long base, Instant now) {
    int tokens = Math.min(claim.tokens(), MOST_TOKENS);
    return new StoredClaim(claim.mode(), tokens, base, false, false, now, claim.holder());
  }

  StoredClaim as(Mode other) {
    return new StoredClaim(other, tokens, base, granted, ended, since, holder);
  }

  StoredClaim asGranted() {
    return new StoredClaim(mode, tokens, base, true, ended, since, holder);
  }

  StoredClaim asEnded() {
    return new StoredClaim(mode, tokens, base, granted, true, since, holder);
  }

  /**
   * Its tokens: they follow the order of claims, and a claim's never change.
   *
   * @throws StoreException when they are used up
   */
  Standing.Held held(String lock, long createRevision) {
    long first = firstToken(base, createRevision);
    if (createRevision > LAST_REVISION || first > Tokens.MAX - tokens) {
      throw new StoreException(
          "lock '"
              + lock
              + "': fencing tokens are used up (etcd's revision is "
              + createRevision
              + ", tokens start at "
              + base
              + "); use a new cluster, or another name if only this lock's are");
    }
    return new Standing.Held(first, first + tokens - 1);
  }

  static long firstToken(long base, long createRevision) {
    return base + (createRevision << TOKEN_BITS);
  }

  String text() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("mode", mode);
    fields.put("tokens", tokens);
    if (base != 0) {
      fields.put("base", base);
    }
    if (granted) {
      fields.put("granted", true);
    }
    if (ended) {
      fields.put("ended", true);
    }
    fields.put("since", since);
    fields.put("host", holder.host());
    fields.put("pid", holder.pid());
    fields.put("thread", holder.thread());
    fields.put("application", holder.application());
    fields.put("note", holder.note());
    return Json.of(fields);
  }

  /**
   * @throws StoreException if somebody else has written the value
   */
  static StoredClaim parse(KeyValue stored) {
    try {
      Map<String, Object> fields = Json.object(stored.value());
      long tokens = Json.number(fields, "tokens");
      long base = Json.number(fields, "base");
      if (tokens < 1 || tokens > MOST_TOKENS || base < 0) {
        throw new IllegalArgumentException(tokens + " tokens after " + base + " cannot be");
      }
      return new StoredClaim(
          Mode.parse(Json.text(fields, "mode")),
          (int) tokens,
          base,
          Json.flag(fields, "granted"),
          Json.flag(fields, "ended"),
          Instant.parse(Json.text(fields, "since")),
          new Holder(
              Json.text(fields, "host"),
              Json.number(fields, "pid"),
              Json.text(fields, "thread"),
              Json.text(fields, "application"),
              Json.text(fields, "note")));
    } catch (RuntimeException e) {
      throw new StoreException(
          "key '" + stored.key() + "' has a value that Pawl did not write; delete the key", e);
    }
  }
}

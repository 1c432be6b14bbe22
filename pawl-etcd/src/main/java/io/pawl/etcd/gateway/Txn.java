package io.pawl.etcd.gateway;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A transaction: if all of its comparisons hold, its first list of operations is done, otherwise
 * the second. Immutable. An operation or comparison is the JSON of the gateway.
 */
public final class Txn {

  /** The most operations that one list may have, nested ones included on the way down. */
  public static final int MAX_OPS = 120;

  /** What etcd's {@code --max-txn-ops} is unless given. */
  static final int MOST_OPS_OF_ETCD = 128;

  private final String json;
  private final boolean changes;
  private final boolean reads;
  private final int size;

  /** Of one that only reads, without conditions; else empty. */
  private final List<Op> plainReads;

  /** Of one that only changes something, and that only if its conditions hold; else empty. */
  private final List<Op> plainChanges;

  private final List<Compare> conditions;
  private final boolean alone;

  private Txn(
      String json,
      int size,
      List<Compare> conditions,
      List<Op> then,
      List<Op> other,
      boolean isNesting) {
    this.json = json;
    this.size = size;
    this.conditions = List.copyOf(conditions);
    this.changes = then.stream().anyMatch(Op::changes) || other.stream().anyMatch(Op::changes);
    this.reads = then.stream().anyMatch(Op::reads) || other.stream().anyMatch(Op::reads);
    boolean isPlain = other.isEmpty() && !isNesting;
    this.plainReads = isPlain && !changes && conditions.isEmpty() ? List.copyOf(then) : List.of();
    this.plainChanges = isPlain && !reads ? List.copyOf(then) : List.of();
    this.alone = false;
  }

  private Txn(Txn same, boolean alone) {
    this.json = same.json;
    this.changes = same.changes;
    this.reads = same.reads;
    this.size = same.size;
    this.plainReads = same.plainReads;
    this.plainChanges = same.plainChanges;
    this.conditions = same.conditions;
    this.alone = alone;
  }

  /**
   * Returns one that never travels with others. etcd compares for all that travel together before
   * it carries out any of them: that is no order where one decides for claims what they are.
   */
  public Txn alone() {
    return new Txn(this, true);
  }

  boolean isAlone() {
    return alone;
  }

  /** A condition. */
  public record Compare(String json) {}

  /**
   * A read, a put, a deletion or a nested transaction.
   *
   * @param size of a nested transaction, otherwise 0
   */
  public record Op(String json, boolean changes, boolean reads, int size) {
    Op(String json, boolean changes) {
      this(json, changes, !changes, 0);
    }
  }

  /** Returns a transaction that does {@code then} if all conditions hold, or else {@code other}. */
  public static Txn of(List<Compare> conditions, List<Op> then, List<Op> other) {
    StringBuilder json = new StringBuilder(256).append("{\"compare\":[");
    String separator = "";
    for (Compare each : conditions) {
      json.append(separator).append(each.json);
      separator = ",";
    }
    ops(json.append("],\"success\":["), then);
    ops(json.append("],\"failure\":["), other);
    int own = Math.max(conditions.size(), Math.max(then.size(), other.size()));
    int inner = Stream.concat(then.stream(), other.stream()).mapToInt(Op::size).max().orElse(0);
    return new Txn(json.append("]}").toString(), own + inner, conditions, then, other, inner > 0);
  }

  /** Returns a transaction without conditions. */
  public static Txn of(Op... ops) {
    return of(List.of(), Arrays.asList(ops), List.of());
  }

  private static void ops(StringBuilder json, List<Op> ops) {
    String separator = "";
    for (Op each : ops) {
      json.append(separator).append(each.json);
      separator = ",";
    }
  }

  /**
   * One transaction for several. Those that only read become one that only reads, which etcd
   * answers without an entry of its log; others are nested.
   */
  static Txn together(List<Txn> transactions) {
    if (transactions.stream().allMatch(Txn::isPlainRead)) {
      return of(
          List.of(),
          transactions.stream().flatMap(each -> each.plainReads.stream()).toList(),
          List.of());
    }
    List<Op> nested = new ArrayList<>();
    transactions.forEach(each -> nested.add(nested(each)));
    return of(List.of(), nested, List.of());
  }

  /**
   * Returns one transaction that does what all of these do if the conditions of all hold, and
   * nothing otherwise; null where that cannot be said in one list. etcd's gateway takes in nested
   * ones at several times the cost.
   */
  static @Nullable Txn merged(List<Txn> transactions) {
    List<Compare> conditions = new ArrayList<>();
    List<Op> changes = new ArrayList<>();
    for (Txn each : transactions) {
      if (each.plainChanges.isEmpty()) {
        return null;
      }
      conditions.addAll(each.conditions);
      changes.addAll(each.plainChanges);
    }
    boolean fits = conditions.size() <= MOST_OPS_OF_ETCD && changes.size() <= MOST_OPS_OF_ETCD;
    return fits ? of(conditions, changes, List.of()) : null;
  }

  /** How many changes it brings to {@link #merged}. */
  int plainChanges() {
    return plainChanges.size();
  }

  /** Returns whether it only reads, whatever it finds. */
  boolean isPlainRead() {
    return !plainReads.isEmpty();
  }

  /** Returns whether it reads nothing. */
  boolean isBlind() {
    return !reads;
  }

  /** Returns whether it can change anything. */
  boolean changes() {
    return changes;
  }

  /** Its longest list, and that of nested ones on the way down: etcd limits the sum. */
  int size() {
    return size;
  }

  String json() {
    return json;
  }

  public static Op nested(Txn txn) {
    return new Op("{\"request_txn\":" + txn.json + "}", txn.changes, txn.reads, txn.size);
  }

  public static Compare isAbsent(String key) {
    return new Compare(
        "{\"target\":\"VERSION\",\"key\":\"" + Json.encoded(key) + "\",\"version\":\"0\"}");
  }

  public static Compare exists(String key) {
    return new Compare(
        "{\"target\":\"VERSION\",\"result\":\"GREATER\",\"key\":\""
            + Json.encoded(key)
            + "\",\"version\":\"0\"}");
  }

  public static Compare hasValue(String key, String value) {
    return value(key, "EQUAL", value);
  }

  /** Holds of no key that is absent. */
  public static Compare hasGreaterValue(String key, String value) {
    return value(key, "GREATER", value);
  }

  private static Compare value(String key, String result, String value) {
    return new Compare(
        "{\"target\":\"VALUE\",\"result\":\""
            + result
            + "\",\"key\":\""
            + Json.encoded(key)
            + "\",\"value\":\""
            + Json.encoded(value)
            + "\"}");
  }

  public static Compare isOf(String key, long createRevision) {
    return new Compare(
        "{\"target\":\"CREATE\",\"key\":\""
            + Json.encoded(key)
            + "\",\"create_revision\":\""
            + createRevision
            + "\"}");
  }

  public static Compare isUnchanged(String key, long modRevision) {
    return new Compare(
        "{\"target\":\"MOD\",\"key\":\""
            + Json.encoded(key)
            + "\",\"mod_revision\":\""
            + modRevision
            + "\"}");
  }

  /** Holds if {@code key} was put last at {@code revision} or before, or is absent. */
  public static Compare unchangedSince(String key, long revision) {
    return new Compare(
        "{\"target\":\"MOD\",\"result\":\"LESS\",\"key\":\""
            + Json.encoded(key)
            + "\",\"mod_revision\":\""
            + (revision + 1)
            + "\"}");
  }

  /** Holds if every key that begins with {@code prefix} was created before {@code revision}. */
  public static Compare allBefore(String prefix, long revision) {
    return new Compare(
        "{\"target\":\"CREATE\",\"result\":\"LESS\",\"key\":\""
            + Json.encoded(prefix)
            + "\",\"range_end\":\""
            + Json.encoded(end(prefix))
            + "\",\"create_revision\":\""
            + revision
            + "\"}");
  }

  /** Holds if no key begins with {@code prefix}. */
  public static Compare isEmpty(String prefix) {
    return allBefore(prefix, 1);
  }

  /**
   * @param lease 0 for none
   */
  public static Op put(String key, String value, long lease) {
    String of = lease == 0 ? "" : ",\"lease\":\"" + lease + "\"";
    return new Op(
        "{\"request_put\":{\"key\":\""
            + Json.encoded(key)
            + "\",\"value\":\""
            + Json.encoded(value)
            + "\""
            + of
            + "}}",
        true);
  }

  public static Op delete(String key) {
    return new Op("{\"request_delete_range\":{\"key\":\"" + Json.encoded(key) + "\"}}", true);
  }

  public static Op get(String key) {
    return new Op("{\"request_range\":{\"key\":\"" + Json.encoded(key) + "\"}}", false);
  }

  public static Op getKeyOnly(String key) {
    return new Op(
        "{\"request_range\":{\"keys_only\":true,\"key\":\"" + Json.encoded(key) + "\"}}", false);
  }

  /** Reads the first keys that begin with {@code prefix}, in the order of their creation. */
  public static Op oldest(String prefix, int limit, boolean keysOnly) {
    return range(prefix, "ASCEND", "CREATE", limit, keysOnly, 0);
  }

  /** As {@link #oldest}, of those that were created up to {@code upTo}. */
  public static Op oldest(String prefix, int limit, boolean keysOnly, long upTo) {
    return range(prefix, "ASCEND", "CREATE", limit, keysOnly, upTo);
  }

  /**
   * Reads the last keys that begin with {@code prefix}, the latest first.
   *
   * @param upTo the largest create revision, 0 for any
   */
  public static Op latest(String prefix, int limit, boolean keysOnly, long upTo) {
    return range(prefix, "DESCEND", "CREATE", limit, keysOnly, upTo);
  }

  private static Op range(
      String prefix, String order, String by, int limit, boolean keysOnly, long upTo) {
    StringBuilder json = new StringBuilder(160).append("{\"request_range\":{\"key\":\"");
    json.append(Json.encoded(prefix)).append("\",\"range_end\":\"");
    json.append(Json.encoded(end(prefix))).append("\",\"sort_order\":\"").append(order);
    json.append("\",\"sort_target\":\"").append(by).append("\",\"limit\":\"").append(limit);
    if (upTo > 0) {
      json.append("\",\"max_create_revision\":\"").append(upTo);
    }
    json.append(keysOnly ? "\",\"keys_only\":true}}" : "\"}}");
    return new Op(json.toString(), false);
  }

  /**
   * Reads up to {@code limit} keys in their own order, from {@code from} on to the end of those
   * that begin with {@code prefix}.
   */
  public static Op page(String prefix, String from, int limit, boolean keysOnly) {
    return pageFrom(prefix, Json.encoded(from), limit, keysOnly);
  }

  /** As {@link #page}, of the keys behind {@code last}, whatever bytes that has. */
  public static Op pageBehind(String prefix, KeyValue last, int limit, boolean keysOnly) {
    byte[] key = Base64.getDecoder().decode(last.base64());
    byte[] next = Arrays.copyOf(key, key.length + 1);
    return pageFrom(prefix, Base64.getEncoder().encodeToString(next), limit, keysOnly);
  }

  private static Op pageFrom(String prefix, String from, int limit, boolean keysOnly) {
    return new Op(
        "{\"request_range\":{\"key\":\""
            + from
            + "\",\"range_end\":\""
            + Json.encoded(end(prefix))
            + "\",\"limit\":\""
            + limit
            + (keysOnly ? "\",\"keys_only\":true}}" : "\"}}"),
        false);
  }

  /** Returns the key after all that begin with {@code prefix}, which ends in a slash. */
  static String end(String prefix) {
    return prefix.substring(0, prefix.length() - 1)
        + (char) (prefix.charAt(prefix.length() - 1) + 1);
  }
}

package io.pawl.etcd.gateway;

import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * The answer to a transaction.
 *
 * @param succeeded whether the conditions held
 * @param revision the store's revision that the operations saw last, or made. Of several
 *     transactions that travelled together, one that only read saw the revision before that of
 *     their changes, unless a change stood before it
 * @param results of the operations that were done, in their order
 */
public record TxnReply(boolean succeeded, long revision, List<Result> results) {

  /**
   * What one operation brought; fields of other operations are empty.
   *
   * @param count how many keys were in the range that was read, whatever its limit
   */
  public record Result(
      List<KeyValue> found, long count, long deleted, TxnReply nested, long revision) {}

  private static final TxnReply NONE = new TxnReply(false, 0, List.of());

  static TxnReply of(Map<String, Object> reply, long outerRevision) {
    long known = revision(reply);
    List<Result> results =
        Json.objects(reply, "responses").stream()
            .map(each -> result(each, Math.max(known, outerRevision)))
            .toList();
    long revision =
        known != 0
            ? known
            : results.stream().mapToLong(Result::revision).max().orElse(outerRevision);
    return new TxnReply(Json.flag(reply, "succeeded"), revision, results);
  }

  /** Nested transactions have a header without a revision. */
  private static long revision(Map<String, Object> reply) {
    return Json.number(Json.object(reply, "header"), "revision");
  }

  private static Result result(Map<String, Object> response, long outerRevision) {
    Map<String, Object> range = Json.object(response, "response_range");
    Map<String, Object> put = Json.object(response, "response_put");
    Map<String, Object> deletion = Json.object(response, "response_delete_range");
    Map<String, Object> nested = Json.object(response, "response_txn");
    TxnReply inner = nested.isEmpty() ? NONE : of(nested, outerRevision);
    long revision =
        LongStream.of(inner.revision, revision(range), revision(put), revision(deletion))
            .max()
            .orElseThrow();
    return new Result(
        Json.objects(range, "kvs").stream().map(KeyValue::of).toList(),
        Json.number(range, "count"),
        Json.number(deletion, "deleted"),
        inner,
        revision == 0 ? outerRevision : revision);
  }

  /** Returns what the operation at {@code index} found. */
  public List<KeyValue> found(int index) {
    return results.get(index).found();
  }

  /** Returns the answer to some of the operations. */
  TxnReply part(int from, int count) {
    return new TxnReply(succeeded, revision, results.subList(from, from + count));
  }

  /** Returns the answer of the nested transaction at {@code index}. */
  public TxnReply nested(int index) {
    return results.get(index).nested();
  }
}

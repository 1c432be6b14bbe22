package io.pawl.etcd.gateway;

import java.util.List;
import java.util.Map;

/**
 * The answer to a transaction.
 *
 * @param succeeded whether the conditions held
 * @param revision the store's revision when it was done
 * @param results of the operations that were done, in their order
 */
public record TxnReply(boolean succeeded, long revision, List<Result> results) {

  /** What one operation brought; fields of other operations are empty. */
  public record Result(List<KeyValue> found, long deleted, TxnReply nested) {}

  private static final TxnReply NONE = new TxnReply(false, 0, List.of());

  static TxnReply of(Map<String, Object> reply, long outerRevision) {
    long revision = Math.max(outerRevision, Json.number(Json.object(reply, "header"), "revision"));
    List<Result> results =
        Json.objects(reply, "responses").stream().map(each -> result(each, revision)).toList();
    return new TxnReply(Json.flag(reply, "succeeded"), revision, results);
  }

  private static Result result(Map<String, Object> response, long revision) {
    Map<String, Object> range = Json.object(response, "response_range");
    Map<String, Object> nested = Json.object(response, "response_txn");
    Map<String, Object> deletion = Json.object(response, "response_delete_range");
    return new Result(
        Json.objects(range, "kvs").stream().map(KeyValue::of).toList(),
        Json.number(deletion, "deleted"),
        nested.isEmpty() ? NONE : of(nested, revision));
  }

  /** Returns what the operation at {@code index} found. */
  public List<KeyValue> found(int index) {
    return results.get(index).found();
  }

  /** Returns the answer of the nested transaction at {@code index}. */
  public TxnReply nested(int index) {
    return results.get(index).nested();
  }
}

package io.pawl.etcd.gateway;

import java.util.Map;

/**
 * A key as it is stored.
 *
 * @param value empty where only keys were asked for
 * @param version how often it was put since its creation
 * @param lease 0 for none
 * @param base64 the key's own bytes, which {@code key} is not if they are no UTF-8
 */
public record KeyValue(
    String key,
    String value,
    long createRevision,
    long modRevision,
    long version,
    long lease,
    String base64) {

  static KeyValue of(Map<String, Object> fields) {
    return new KeyValue(
        Json.decoded(Json.text(fields, "key")),
        Json.decoded(Json.text(fields, "value")),
        Json.number(fields, "create_revision"),
        Json.number(fields, "mod_revision"),
        Json.number(fields, "version"),
        Json.number(fields, "lease"),
        Json.text(fields, "key"));
  }
}

package io.pawl.etcd.gateway;

import java.util.Map;

/**
 * A key as it is stored.
 *
 * @param value empty where only keys were asked for
 * @param version how often it was put since its creation
 * @param lease 0 for none
 */
public record KeyValue(
    String key, String value, long createRevision, long modRevision, long version, long lease) {

  static KeyValue of(Map<String, Object> fields) {
    return new KeyValue(
        Json.decoded(Json.text(fields, "key")),
        Json.decoded(Json.text(fields, "value")),
        Json.number(fields, "create_revision"),
        Json.number(fields, "mod_revision"),
        Json.number(fields, "version"),
        Json.number(fields, "lease"));
  }
}

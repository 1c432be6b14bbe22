package io.pawl.lab.session;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.pawl.lab.stage.Stage;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** The queue of keys by which locks on etcd are made, without the check of one's own lease. */
public final class Etcd implements AutoCloseable {

  private final Client client;
  private final Stage stage;

  public Etcd(Stage stage) {
    this.stage = stage;
    this.client = Client.builder().endpoints(stage.ground().etcd().endpoint()).build();
    stage.own(this);
  }

  long grant(long seconds) throws Exception {
    return stage.get(client.getLeaseClient().grant(seconds)).getID();
  }

  /** Enters the queue, and returns the revision that is the place in it. */
  long enter(String lock, long lease) throws Exception {
    PutOption option = PutOption.builder().withLeaseId(lease).build();
    stage.get(client.getKVClient().put(key(lock + "/" + lease), key(""), option));
    return keys(lock).stream()
        .filter(it -> it.getLease() == lease)
        .findFirst()
        .orElseThrow()
        .getCreateRevision();
  }

  void leave(String lock, long lease) throws Exception {
    stage.get(client.getKVClient().delete(key(lock + "/" + lease)));
  }

  /** The keys in the queue, the first first. */
  public List<KeyValue> keys(String lock) throws Exception {
    GetOption option = GetOption.builder().isPrefix(true).build();
    return stage.get(client.getKVClient().get(key(lock + "/"), option)).getKvs().stream()
        .sorted(Comparator.comparingLong(KeyValue::getCreateRevision))
        .toList();
  }

  /** Whether nobody stands before {@code revision}: all that a careless lock looks at. */
  boolean isFirst(String lock, long revision) throws Exception {
    Optional<KeyValue> before =
        keys(lock).stream().filter(it -> it.getCreateRevision() < revision).findFirst();
    return before.isEmpty();
  }

  boolean isThere(String lock, long lease) throws Exception {
    return keys(lock).stream().anyMatch(it -> it.getLease() == lease);
  }

  private static ByteSequence key(String text) {
    return ByteSequence.from(text, UTF_8);
  }

  @Override
  public void close() {
    client.close();
  }
}

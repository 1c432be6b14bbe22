package io.pawl.zookeeper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/** What the contracts' servers have in common. */
final class ContractServers {

  /** Leases of 100 ms to 7 days have sessions of their own. */
  static final String[] OPTIONS = {
    "tickTime=100", "minSessionTimeout=200", "maxSessionTimeout=700000000"
  };

  static final String PARAMETERS = "?tick=100ms";

  private static final long EPOCH = 100;

  private ContractServers() {}

  /** As after a hundred elections: tokens are larger than the floors of the contracts. */
  static void age(Path data) {
    DataTree empty = new DataTree();
    empty.lastProcessedZxid = EPOCH << 32;
    try {
      FileTxnSnapLog files = new FileTxnSnapLog(data.toFile(), data.toFile());
      files.save(empty, new ConcurrentHashMap<>(), true);
      files.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

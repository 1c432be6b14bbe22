package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.memory.MemoryStore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** P1 and P4 rest on no two clients having the same id. */
class ClientIdTest {

  private static String clientId(MemoryStore store) throws Exception {
    try (Pawl pawl = Pawl.over(store);
        Lease lease = pawl.lock("id").acquire()) {
      assertThat(lease.isValid()).isTrue();
      var view = store.show("id").toCompletableFuture().get().orElseThrow();
      return view.holders().get(0).id().client();
    }
  }

  @Test
  void isRandomAndTellsNothingOfHostOrProcess() throws Exception {
    List<String> ids = new ArrayList<>();
    try (MemoryStore store = new MemoryStore()) {
      for (int i = 0; i < 20; i++) {
        ids.add(clientId(store));
      }
    }
    assertThat(new HashSet<>(ids)).hasSize(20);
    assertThat(ids.stream().map(id -> id.substring(id.length() - 1)).distinct().count())
        .as("last letters, which were the process id's: " + ids)
        .isGreaterThan(1);
    assertThat(ids).allMatch(id -> id.length() > 15);
  }
}

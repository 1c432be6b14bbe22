package io.pawl.lab.chaos;

import io.pawl.lab.chaos.Ground.Store;
import io.pawl.lab.chaos.rival.Rival;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Whose locks are used, and what of them is judged. */
enum Library {
  PAWL(null, EnumSet.allOf(Store.class)),
  REDISSON(Rival.REDISSON, EnumSet.of(Store.REDIS, Store.VALKEY)),
  CURATOR(Rival.CURATOR, EnumSet.of(Store.ZOOKEEPER)),
  SPRING_INTEGRATION(
      Rival.SPRING_INTEGRATION, EnumSet.of(Store.REDIS, Store.VALKEY, Store.POSTGRES, Store.MYSQL)),
  SHEDLOCK(Rival.SHEDLOCK, EnumSet.of(Store.POSTGRES, Store.MYSQL));

  /** What no rival has: a loss that is told, and counters. */
  private static final List<String> OURS = List.of("P5", "P7");

  /** A ticket is drawn some time after the grant, so that their order proves nothing. */
  private static final List<String> OF_TOKENS = List.of("P2", "P3", "linearizability");

  private final @Nullable Rival rival;
  private final Set<Store> stores;

  Library(@Nullable Rival rival, Set<Store> stores) {
    this.rival = rival;
    this.stores = stores;
  }

  boolean runsOn(Store store) {
    return stores.contains(store);
  }

  boolean isRival() {
    return rival != null;
  }

  /** What stands behind it, unless it is Pawl. */
  Rival rival() {
    return Objects.requireNonNull(rival, "Pawl");
  }

  /** Whether its grants come with fencing tokens. */
  boolean hasTokens() {
    return rival == null || rival.hasTokens();
  }

  /** The beginnings of promises of which it is not judged. */
  List<String> notJudged() {
    List<String> promises = new ArrayList<>(isRival() ? OURS : List.of());
    promises.addAll(hasTokens() ? List.of() : OF_TOKENS);
    return promises;
  }

  /** As people write it. */
  String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** As {@link #word()}, for the command line. */
  @Override
  public String toString() {
    return word();
  }
}

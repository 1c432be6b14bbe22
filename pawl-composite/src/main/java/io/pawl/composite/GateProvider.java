package io.pawl.composite;

import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Opens {@code gate:<gate>|<truth>}, each part the URL of a store: {@code
 * gate:redis://cache:6379|jdbc:mysql://db/shop}. A gate that cannot be reached at that moment is
 * tried again in the background; the truth must answer.
 *
 * <p>{@link GateOptions} may stand before the gate, by name, after a question mark, with which no
 * URL begins: {@code
 * gate:?settle=500ms&gatePatience=200ms|redis://cache:6379|jdbc:mysql://db/shop}.
 */
public final class GateProvider implements StoreProvider {

  @Override
  public Set<String> schemes() {
    return Set.of("gate");
  }

  @Override
  public LockStore open(StoreUrl url) {
    GateUrl parsed = GateUrl.parse(url);
    StoreUrl gate = parsed.gate();
    StoreProvider provider = Stores.provider(gate); // a worker might not find it
    Supplier<LockStore> opener = () -> provider.open(gate);
    LockStore truth = Stores.open(parsed.truth());
    LockStore opened = null;
    try {
      opened = openedOrNull(opener);
      return GateStore.owning(gate.toString(), opened, opener, truth, parsed.options());
    } catch (RuntimeException | Error e) {
      if (opened != null) {
        opened.close();
      }
      truth.close();
      throw e;
    }
  }

  private static @Nullable LockStore openedOrNull(Supplier<LockStore> opener) {
    try {
      return opener.get();
    } catch (StoreUnavailableException e) {
      return null; // said by the gate, which is left out until it can be opened
    }
  }
}

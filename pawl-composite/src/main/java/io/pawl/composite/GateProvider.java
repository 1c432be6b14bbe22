package io.pawl.composite;

import io.pawl.StoreUnavailableException;
import io.pawl.Stores;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Opens {@code gate:<gate>|<truth>}, each part the URL of a store: {@code
 * gate:redis://cache:6379|jdbc:mysql://db/shop}. A gate that cannot be reached at that moment is
 * tried again in the background; the truth must answer.
 */
public final class GateProvider implements StoreProvider {

  /** A bar that a URL follows: passwords may have others. */
  private static final Pattern BAR = Pattern.compile("\\|(?=jdbc:|[A-Za-z][A-Za-z0-9+.-]*:/)");

  @Override
  public Set<String> schemes() {
    return Set.of("gate");
  }

  @Override
  public LockStore open(StoreUrl url) {
    Matcher bar = BAR.matcher(url.rest());
    if (!bar.find()) {
      throw new IllegalArgumentException(
          "store URL '" + url + "': write gate:<URL of the gate>|<URL of the truth>");
    }
    StoreUrl gate = StoreUrl.parse(url.rest().substring(0, bar.start()));
    StoreUrl truth = StoreUrl.parse(url.rest().substring(bar.end()));
    if (gate.scheme().equals("gate") || truth.scheme().equals("gate")) {
      throw new IllegalArgumentException(
          "store URL '" + url + "': a gate before a gate; name one gate and one truth");
    }
    Supplier<LockStore> opener = () -> Stores.open(gate);
    LockStore open = Stores.open(truth);
    try {
      return GateStore.owning(
          gate.toString(), openedOrNull(opener), opener, open, GateOptions.defaults());
    } catch (RuntimeException e) {
      open.close();
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

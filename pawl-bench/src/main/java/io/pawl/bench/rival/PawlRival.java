package io.pawl.bench.rival;

import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import io.pawl.spi.StoreProvider;
import java.time.Duration;
import java.util.ServiceLoader;
import java.util.function.Function;

/** Pawl on any store. */
public final class PawlRival implements Rival {

  public static final String PASSING = "Pawl";
  public static final String STRICT = "Pawl, strict order";
  public static final String STICKY = "Pawl, sticky for 1 s";
  public static final String LATE = "Pawl, released in background";

  private final String name;
  private final String scheme;
  private final LockOptions options;
  private final Function<String, Pawl> connect;

  private PawlRival(
      String name, String scheme, LockOptions options, Function<String, Pawl> connect) {
    this.name = name;
    this.scheme = scheme;
    this.options = options;
    this.connect = connect;
  }

  /** With default options, by the URL that the ground gives. */
  public static PawlRival passing(String scheme) {
    return new PawlRival(PASSING, scheme, LockOptions.defaults(), Pawl::connect);
  }

  /** As {@link #passing(String)}, with leases of this length. */
  public static PawlRival passing(String scheme, Duration lease) {
    return new PawlRival(PASSING, scheme, LockOptions.defaults().lease(lease), Pawl::connect);
  }

  /** In strict order, by URL. */
  public static PawlRival strict(String scheme) {
    return new PawlRival(STRICT, scheme, LockOptions.defaults().strictOrder(), Pawl::connect);
  }

  /** With holds that are kept for as long as they may be, by URL. */
  public static PawlRival sticky(String scheme) {
    return sticky(scheme, Duration.ofSeconds(1));
  }

  /** With holds that are kept for {@code length}, by URL. */
  public static PawlRival sticky(String scheme, Duration length) {
    LockOptions options = LockOptions.defaults().sticky(length);
    return new PawlRival(STICKY, scheme, options, Pawl::connect);
  }

  /** Which does not wait for its releases, by URL. */
  public static PawlRival late(String scheme) {
    LockOptions options = LockOptions.defaults().releaseInBackground();
    return new PawlRival(LATE, scheme, options, Pawl::connect);
  }

  /** As this one, under another name. */
  public PawlRival named(String other) {
    return new PawlRival(other, scheme, options, connect);
  }

  /** As this one, opened in another way than by URL. */
  public PawlRival openedBy(Function<String, Pawl> open) {
    return new PawlRival(name, "", options, open);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String missing() {
    if (scheme.isEmpty()) {
      return "";
    }
    for (StoreProvider provider : ServiceLoader.load(StoreProvider.class)) {
      if (provider.schemes().contains(scheme)) {
        return "";
      }
    }
    return "no store for " + scheme + ": on the class path";
  }

  @Override
  public Client connect(String address) {
    Pawl pawl = connect.apply(address);
    return new Client() {
      @Override
      public Turn lock(String lock) {
        return new LeaseTurn(pawl.lock(lock, options)::acquire);
      }

      @Override
      public void close() {
        pawl.close();
      }
    };
  }
}

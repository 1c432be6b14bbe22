package io.pawl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.CounterStore;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreProvider;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.support.ReflectionSupport;

/**
 * Fails if the package of the subclass has a store without a test for every contract that applies
 * to it. The subclass is empty and is in the store's package:
 *
 * <pre>{@code class ContractsTest extends StoreCompleteness {}}</pre>
 */
public abstract class StoreCompleteness {

  /** For subclasses. */
  protected StoreCompleteness() {}

  /** Returns whether a store that is opened by URL is the same for other processes. */
  protected boolean outlivesAProcess() {
    return true;
  }

  /** Returns whether the stores have semaphores; one that refuses them says why. */
  protected boolean servesSemaphores() {
    return true;
  }

  @Test
  final void everyStorePassesEveryContract() {
    List<Class<?>> classes =
        ReflectionSupport.findAllClassesInPackage(
            getClass().getPackageName(), StoreCompleteness::isConcrete, name -> true);
    assertThat(classes)
        .as("stores beside %s", getClass())
        .anyMatch(LockStore.class::isAssignableFrom);

    assertThat(missing(classes, outlivesAProcess(), servesSemaphores()))
        .as("contracts without a subclass beside %s", getClass())
        .isEmpty();
  }

  /**
   * @param outlive whether a store that is opened by URL can be reached from another process, which
   *     may crash
   */
  static List<Class<?>> missing(List<Class<?>> classes, boolean outlive, boolean semaphores) {
    List<Class<?>> owed = new ArrayList<>(List.of(LockStoreContract.class, LockContract.class));
    if (classes.stream().anyMatch(Inspectable.class::isAssignableFrom)) {
      owed.add(InspectableContract.class);
      if (semaphores) {
        owed.add(SemaphoreContract.class);
      }
    }
    boolean hasCounters = classes.stream().anyMatch(CounterStore.class::isAssignableFrom);
    boolean hasUrl = outlive && classes.stream().anyMatch(StoreProvider.class::isAssignableFrom);
    if (hasCounters) {
      owed.add(CounterContract.class);
    }
    if (hasUrl) {
      owed.add(CrashContract.class);
    }
    if (hasCounters && hasUrl) {
      owed.add(CounterCrashContract.class);
    }
    List<Class<?>> kept = new ArrayList<>(classes);
    for (Class<?> all :
        List.of(
            StoreContracts.class,
            ServerContracts.class,
            ExclusionServerContracts.class,
            LockServerContracts.class)) {
      if (classes.stream().anyMatch(all::isAssignableFrom)) {
        kept.addAll(List.of(all.getDeclaredClasses()));
      }
    }
    owed.removeIf(contract -> kept.stream().anyMatch(contract::isAssignableFrom));
    return owed;
  }

  private static boolean isConcrete(Class<?> type) {
    return !type.isInterface() && !Modifier.isAbstract(type.getModifiers());
  }
}

/**
 * Contracts to subclass: every store and every lock passes them.
 *
 * <p>The author of a store depends on this module with test scope and writes, in the store's
 * package, a concrete subclass of {@link io.pawl.tck.LockStoreContract} and {@link
 * io.pawl.tck.LockContract}, each with an {@code openStore()}; one of {@link
 * io.pawl.tck.InspectableContract}; one of {@link io.pawl.tck.CrashContract}, with a {@code url()},
 * where it has a {@link io.pawl.spi.StoreProvider}; and an empty one of {@link
 * io.pawl.tck.StoreCompleteness}, which fails while one of the others is forgotten.
 *
 * <p>The cases of the contracts stand in the packages below. A store's own tests may use {@link
 * io.pawl.tck.rig}, too.
 */
@NullMarked
package io.pawl.tck;

import org.jspecify.annotations.NullMarked;

/** What cases are made with: clients, a store with faults, a second process. */
@NullMarked
package io.pawl.tck.rig;

import org.jspecify.annotations.NullMarked;

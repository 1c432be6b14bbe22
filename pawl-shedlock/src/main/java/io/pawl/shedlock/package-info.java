/**
 * Pawl under <a href="https://github.com/lukas-krecan/ShedLock">ShedLock</a>'s annotations: {@link
 * io.pawl.shedlock.PawlLockProvider} is a lock provider on any of Pawl's stores, and {@link
 * io.pawl.shedlock.TransitionLockProvider} takes an application's old provider along while both of
 * its versions run.
 */
@NullMarked
package io.pawl.shedlock;

import org.jspecify.annotations.NullMarked;

/** {@code pawl run}: a command under a lock, its signals, and its end when the lock is lost. */
@NullMarked
package io.pawl.cli.run;

import org.jspecify.annotations.NullMarked;

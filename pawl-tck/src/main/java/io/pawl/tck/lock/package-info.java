/** Cases of locks, and whether histories of them are linearizable. */
@NullMarked
package io.pawl.tck.lock;

import org.jspecify.annotations.NullMarked;

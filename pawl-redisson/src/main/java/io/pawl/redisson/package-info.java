/**
 * Pawl with the methods of <a href="https://redisson.pro">Redisson</a>'s locks, for a change of
 * import: {@link io.pawl.redisson.PawlRedisson}. {@link io.pawl.redisson.TransitionRedisson} takes
 * Redisson's locks too while two releases of an application run side by side.
 */
@NullMarked
package io.pawl.redisson;

import org.jspecify.annotations.NullMarked;

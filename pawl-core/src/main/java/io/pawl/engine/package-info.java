/**
 * From one request to the store and back: lines of waiters, claims, renewal, loans. Not for users.
 */
@NullMarked
package io.pawl.engine;

import org.jspecify.annotations.NullMarked;

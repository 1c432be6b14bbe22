/**
 * Locks of other libraries, each behind the same few calls, for {@code ./pawl chaos --library}.
 * What a library throws when its store is away is a request that was not granted, or a release that
 * was not confirmed.
 */
@NullMarked
package io.pawl.lab.chaos.rival;

import org.jspecify.annotations.NullMarked;

/** Locks as rows: their requests, and how those who wait learn of a grant. */
@NullMarked
package io.pawl.sql.lock;

import org.jspecify.annotations.NullMarked;

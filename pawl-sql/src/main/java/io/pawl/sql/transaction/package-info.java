/** Short transactions that serve many requests at once, one connection for each kind of them. */
@NullMarked
package io.pawl.sql.transaction;

import org.jspecify.annotations.NullMarked;

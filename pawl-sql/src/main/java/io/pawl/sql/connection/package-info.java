/** Where connections come from, and the threads that use them. */
@NullMarked
package io.pawl.sql.connection;

import org.jspecify.annotations.NullMarked;

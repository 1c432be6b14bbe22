/** What differs between SQLite, MySQL, MariaDB and PostgreSQL, and what the store asks of each. */
@NullMarked
package io.pawl.sql.dialect;

import org.jspecify.annotations.NullMarked;

/** A store on a SQL database. */
@NullMarked
package io.pawl.sql;

import org.jspecify.annotations.NullMarked;

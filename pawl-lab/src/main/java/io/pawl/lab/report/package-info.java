/** What came out, as a table, as a story and as a page of HTML. */
@NullMarked
package io.pawl.lab.report;

import org.jspecify.annotations.NullMarked;

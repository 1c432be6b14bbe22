/** How a client, and how one lock, behaves. */
@NullMarked
package io.pawl.options;

import org.jspecify.annotations.NullMarked;

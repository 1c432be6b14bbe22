/** A store made of two others: a fast gate before a durable truth. */
@NullMarked
package io.pawl.composite;

import org.jspecify.annotations.NullMarked;

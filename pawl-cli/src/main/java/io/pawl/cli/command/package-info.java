/** What a command is, and what commands share: arguments, the store, output, failures. */
@NullMarked
package io.pawl.cli.command;

import org.jspecify.annotations.NullMarked;

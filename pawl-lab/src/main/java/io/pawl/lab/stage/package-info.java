/**
 * What a specimen is played on: servers, connections, processes, and the notes of who held when.
 */
@NullMarked
package io.pawl.lab.stage;

import org.jspecify.annotations.NullMarked;

/** Locks on ZooKeeper. */
@NullMarked
package io.pawl.zookeeper;

import org.jspecify.annotations.NullMarked;

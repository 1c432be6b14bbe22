/** Locks on ZooKeeper and etcd as they are often written. */
@NullMarked
package io.pawl.lab.session;

import org.jspecify.annotations.NullMarked;

/**
 * Stores that decide by consensus, ZooKeeper and etcd: one server and three, beside Curator and
 * jetcd.
 */
@NullMarked
package io.pawl.bench.consensus;

import org.jspecify.annotations.NullMarked;

/** The store on etcd. */
@NullMarked
package io.pawl.etcd;

import org.jspecify.annotations.NullMarked;

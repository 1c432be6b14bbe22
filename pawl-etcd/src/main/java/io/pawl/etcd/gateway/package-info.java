/**
 * A small client of etcd's JSON gateway: HTTP/1.1 on connections of its own, requests combined into
 * transactions, endpoints in turn, authentication, watches.
 */
@NullMarked
package io.pawl.etcd.gateway;

import org.jspecify.annotations.NullMarked;

#!/bin/sh
# Wall time of `./pawl run x -- true` beside an empty Java main class, in turns.
# usage: pawl-bench/startup.sh [ROUNDS]; JAVA_HOME chooses the Java
set -eu
rounds=${1:-40}
here=$(cd -P -- "$(dirname -- "$0")/.." && pwd -P)
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo 'class Empty { public static void main(String[] args) {} }' >"$work/Empty.java"
"${java}c" -d "$work" "$work/Empty.java"
export PAWL_STORE="sqlite:$work/locks.db"

# one TIMES_FILE COMMAND...: appends its wall time in microseconds
one() {
  file=$1 && shift
  before=$(date +%s%N)
  "$@"
  after=$(date +%s%N)
  echo $(((after - before) / 1000)) >>"$file"
}

# median FILE
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

"$here/pawl" run warm -- true
i=0
while [ "$i" -lt "$rounds" ]; do
  one "$work/empty" "$java" -cp "$work" Empty
  one "$work/pawl" "$here/pawl" run x -- true
  i=$((i + 1))
done
empty=$(median "$work/empty") pawl=$(median "$work/pawl")
echo "empty main class: $empty us; pawl run x -- true: $pawl us; ratio $(awk "BEGIN { printf \"%.2f\", $pawl / $empty }")"

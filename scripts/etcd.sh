#!/usr/bin/env bash
# Gets etcd for the tests of configuration and prints the path of its executable as the last line on stdout;
# with --print-path only if it is here already, else exit 1; with --run ARGS becomes it.
# Order: $CONVEYOR_ETCD, PATH, the cache, the package of this Debian or Ubuntu, which takes no root.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$ROOT/scripts/common.sh"
. "$ROOT/scripts/cached.sh"

CACHED="$CONVEYOR_CACHE/bin/etcd"
HINT='install etcd 3.4 or newer (Debian: apt-get install etcd-server; others: https://etcd.io/docs/latest/install), or set CONVEYOR_ETCD to an etcd binary'

main() {
  local etcd
  if [ "${1:-}" = --run ]; then
    shift
    etcd=$(main)
    exec "$etcd" "$@"
  elif [ -n "${CONVEYOR_ETCD:-}" ]; then
    [ -x "$CONVEYOR_ETCD" ] && [ ! -d "$CONVEYOR_ETCD" ] || fail "CONVEYOR_ETCD is $CONVEYOR_ETCD, which cannot be run" "$HINT"
    printf '%s\n' "$CONVEYOR_ETCD"
  elif has etcd && only_ours "$(command -v etcd)"; then
    command -v etcd
  elif [ -x "$CACHED" ]; then
    require_unchanged "$CACHED" etcd CONVEYOR_ETCD
    printf '%s\n' "$CACHED"
  elif [ "${1:-}" = --print-path ]; then
    exit 1
  else
    with_lock etcd provide || exit 1
    printf '%s\n' "$CACHED"
  fi
}

provide() {
  local work
  [ ! -x "$CACHED" ] || return 0 # whoever held the lock before us made it
  has apt-get && has dpkg || fail 'there is no etcd here, and no apt-get to get it with' "$HINT"
  work=$(mktemp -d "$CONVEYOR_CACHE/etcd.XXXXXX")
  say 'Fetching the etcd package (8 MB)'
  (umask 022 && mkdir -p "$CONVEYOR_CACHE/bin")
  if download "$work" >"$work/log" 2>&1 && dpkg -x "$work"/etcd-server_*.deb "$work/unpacked" &&
    keep "$work/unpacked/usr/bin/etcd" "$CACHED"; then
    rm -rf "$work"
  else
    tail -n 5 "$work/log" >&2
    rm -rf "$work"
    fail 'the etcd package could not be fetched' "$HINT"
  fi
}

# With the lists of this machine, else with some of our own, which need no root.
download() {
  cd "$1"
  ! apt-get download etcd-server || return 0
  mkdir -p lists/partial cache/archives/partial
  local own=(-o "Dir::State::lists=$1/lists" -o "Dir::Cache=$1/cache" -o APT::Sandbox::User=)
  apt-get "${own[@]}" update && apt-get "${own[@]}" download etcd-server
}

main "$@"

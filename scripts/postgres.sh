#!/usr/bin/env bash
# Finds PostgreSQL for the tests of the archive, or gets it, and prints the folder of its programs as the last line on stdout;
# with --print-path only if it is here already, else exit 1.
# Order: $CONVEYOR_POSTGRES, Debian's folder, PATH, the cache, the package of this Debian or Ubuntu, which takes no root.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$ROOT/scripts/common.sh"
. "$ROOT/scripts/cached.sh"

CACHED="$CONVEYOR_CACHE/postgresql"
HINT='install PostgreSQL 13 or newer (Debian: apt-get install postgresql), or set CONVEYOR_POSTGRES to the folder that has initdb and postgres'

runs() { "$1/initdb" --version >/dev/null 2>&1 && "$1/postgres" --version >/dev/null 2>&1; }

main() {
  local folder
  if [ -n "${CONVEYOR_POSTGRES:-}" ]; then
    runs "$CONVEYOR_POSTGRES" || fail "CONVEYOR_POSTGRES is $CONVEYOR_POSTGRES, where initdb and postgres do not run" "$HINT"
    printf '%s\n' "$CONVEYOR_POSTGRES"
    return
  fi
  for folder in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV) "$(dirname "$(command -v initdb || echo /nowhere/initdb)")" \
    $(ls -d "$CACHED"/usr/lib/postgresql/*/bin 2>/dev/null); do
    # Before it runs.
    case $folder in "$CACHED"/*) require_unchanged "$CACHED" PostgreSQL CONVEYOR_POSTGRES ;; esac
    ! runs "$folder" || { printf '%s\n' "$folder" && return; }
  done
  [ "${1:-}" != --print-path ] || exit 1
  with_lock postgresql provide || exit 1
  folder=$(ls -d "$CACHED"/usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
  runs "$folder" || fail 'PostgreSQL was fetched, and does not run here' "$HINT"
  printf '%s\n' "$folder"
}

provide() {
  local work package
  has apt-get && has dpkg || fail 'there is no PostgreSQL here, and no apt-get to get it with' "$HINT"
  package=$(apt-cache depends postgresql 2>/dev/null | sed -n 's/.*Depends: \(postgresql-[0-9][0-9]*\)$/\1/p' | head -n 1)
  [ -n "$package" ] || fail 'apt knows no package of PostgreSQL' "$HINT"
  (umask 022 && mkdir -p "$CONVEYOR_CACHE")
  work=$(mktemp -d "$CONVEYOR_CACHE/postgresql.XXXXXX")
  say "Fetching the $package package (17 MB)"
  if (cd "$work" && apt-get download "$package") >"$work/log" 2>&1 && dpkg -x "$work"/postgresql-*.deb "$work/unpacked" &&
    keep "$work/unpacked" "$CACHED"; then
    rm -rf "$work"
  else
    tail -n 5 "$work/log" >&2
    rm -rf "$work"
    fail 'the package of PostgreSQL could not be fetched' "$HINT"
  fi
}

main "$@"

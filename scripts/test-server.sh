#!/usr/bin/env bash
# Gets the virtual-time test server and prints the path of its executable as the last line on stdout;
# with --print-path only if it is here already, else exit 1.
# Order: $CONVEYOR_TEST_SERVER, the cache, Maven (with Java), the binary that the Temporal SDK downloads.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$ROOT/scripts/common.sh"
. "$ROOT/scripts/cached.sh"

VERSION=$(sed -n '/temporal-test-server/{n;s|.*<version>\(.*\)</version>.*|\1|p;}' "$ROOT/tools/test-server/pom.xml")
HOME_DIR="$CONVEYOR_CACHE/test-server-$VERSION"
LAUNCHER="$HOME_DIR/test-server"
# Digests of all jars. The files of a version never change in Maven Central.
PINNED="$ROOT/tools/test-server/jars.sha256"

main() {
  if [ -n "${CONVEYOR_TEST_SERVER:-}" ]; then
    [ -x "$CONVEYOR_TEST_SERVER" ] && [ ! -d "$CONVEYOR_TEST_SERVER" ] ||
      fail "CONVEYOR_TEST_SERVER is $CONVEYOR_TEST_SERVER, which cannot be run" 'correct it, or unset it and let Conveyor get one'
    printf '%s\n' "$CONVEYOR_TEST_SERVER"
    return
  fi
  if [ "${1:-}" = --print-path ] && ! usable; then exit 1; fi
  usable || with_lock "test-server-$VERSION" provide || exit 1
  require_unchanged "$HOME_DIR" 'test server' CONVEYOR_TEST_SERVER
  printf '%s\n' "$LAUNCHER"
}

# A launcher that starts Java is of no use on a machine that has lost its Java.
usable() {
  [ -x "$LAUNCHER" ] && { [ ! -d "$HOME_DIR/lib" ] || java_works; }
}

provide() {
  ! usable || return 0 # whoever held the lock before us made it
  (umask 022 && mkdir -p "$CONVEYOR_CACHE")
  if java_works && has mvn; then
    copy_jars
  else
    download
  fi
}

# `java` on macOS is a stub that only says that there is no Java.
java_works() { has java && java -version >/dev/null 2>&1; }

copy_jars() {
  local made="$HOME_DIR.$$" log="$CONVEYOR_CACHE/test-server.log"
  say "Fetching the virtual-time test server $VERSION with Maven (33 MB)"
  # Maven writes next to the pom; a copy keeps the checkout clean.
  (umask 022 && mkdir -p "$made/lib")
  cp "$ROOT/tools/test-server/pom.xml" "$made/pom.xml"
  if ! mvn -q -B -f "$made/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$made/lib" >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    rm -rf "$made"
    fail "Maven could not fetch the test server; the whole log is $log" \
      'let Maven reach a repository (settings.xml), or set CONVEYOR_TEST_SERVER to a temporal-test-server binary'
  fi
  cat >"$made/test-server" <<'LAUNCHER'
#!/bin/sh
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$(dirname "$0")/lib/*" io.temporal.testserver.TestServer "$@"
LAUNCHER
  require_pinned "$made"
  chmod +x "$made/test-server"
  keep "$made" "$HOME_DIR"
}

# Maven believes the digests that the repository itself names.
require_pinned() {
  local found
  found=$(export LC_ALL=C && cd "$1/lib" && digests_of *.jar) || return 0
  [ "$found" != "$(cat "$PINNED")" ] || return 0
  diff "$PINNED" - <<<"$found" | tail -n 15 >&2 || true
  rm -rf "$1"
  fail 'Maven fetched other jars of the test server than the pinned ones' \
    'do not run them: look where Maven gets them, or set CONVEYOR_TEST_SERVER to a temporal-test-server binary'
}

download() {
  local made="$HOME_DIR.$$" found
  say 'There is no Java with Maven here; trying the binary that the Temporal SDK downloads'
  (umask 022 && mkdir -p "$made")
  if ! found=$(node "$ROOT/scripts/download-test-server.js" "$made"); then
    rm -rf "$made"
    fail 'the virtual-time test server needs Java 11 or newer with Maven, and its download is out of reach' \
      'install both (Debian: apt-get install default-jre-headless maven; macOS: brew install openjdk maven), or set CONVEYOR_TEST_SERVER to a temporal-test-server binary'
  fi
  mv "$found" "$made/test-server"
  chmod +x "$made/test-server"
  keep "$made" "$HOME_DIR"
}

main "$@"

#!/usr/bin/env bash
# Builds the control plane of Kubernetes for tests, once for this machine, and prints the path of its executable as the last line on stdout;
# with --print-path only if it is here already, else exit 1. An interrupted build resumes: Go keeps what it has compiled.
# Order: $CONVEYOR_CONTROL_PLANE, the cache, a build.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$ROOT/scripts/common.sh"
. "$ROOT/scripts/cached.sh"

KUBERNETES_VERSION=1.37.1
CACHED="$CONVEYOR_CACHE/bin/control-plane-$KUBERNETES_VERSION"
HINT='install Go 1.26 or newer (https://go.dev/dl), or set CONVEYOR_CONTROL_PLANE to a control plane that another machine built'

main() {
  if [ -n "${CONVEYOR_CONTROL_PLANE:-}" ]; then
    [ -x "$CONVEYOR_CONTROL_PLANE" ] && [ ! -d "$CONVEYOR_CONTROL_PLANE" ] ||
      fail "CONVEYOR_CONTROL_PLANE is $CONVEYOR_CONTROL_PLANE, which cannot be run" "$HINT"
    printf '%s\n' "$CONVEYOR_CONTROL_PLANE"
    return
  fi
  if [ ! -x "$CACHED" ]; then
    [ "${1:-}" != --print-path ] || exit 1
    with_lock "control-plane-$KUBERNETES_VERSION" build || exit 1
  fi
  require_unchanged "$CACHED" 'control plane' CONVEYOR_CONTROL_PLANE
  printf '%s\n' "$CACHED"
}

# One package at a time, behind all other work of the machine.
build() {
  local log="$CONVEYOR_CACHE/control-plane-build.log" made="$CACHED.$$" pid version=k8s.io/component-base/version
  [ ! -x "$CACHED" ] || return 0 # whoever held the lock before us made it
  go_usable || fail 'there is no control plane of Kubernetes here, and no Go to build it with' "$HINT"
  (umask 022 && mkdir -p "$CONVEYOR_CACHE/bin")
  say "Building the control plane of Kubernetes $KUBERNETES_VERSION with $(go env GOVERSION): a quarter of an hour on an idle machine, once"
  (
    cd "$ROOT/tools/controlPlane" && GOFLAGS='-p=1 -buildvcs=false' CGO_ENABLED=0 exec nice -n 19 go build -v -mod=readonly -trimpath -o "$made" \
      -ldflags "-s -w -X $version.gitVersion=v$KUBERNETES_VERSION -X $version.gitMajor=1 -X $version.gitMinor=37 -X $version.gitTreeState=clean -X $version.gitCommit=$(printf '0%.0s' $(seq 40))" .
  ) >"$log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null; rm -f "$made"; exit 130' INT TERM
  if ! follow "$log" "$pid" building 2300; then
    tail -n 15 "$log" >&2
    rm -f "$made"
    fail "the control plane could not be built; the whole log is $log" "fix what it says, or $HINT"
  fi
  chmod 755 "$made" && keep "$made" "$CACHED"
}

main "$@"

# What the shell scripts share; sourced, not run. Messages go to stderr: stdout belongs to the answer.

# Tools are kept outside the checkout, so that a second clone finds them.
CONVEYOR_CACHE=${CONVEYOR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/conveyor}

say() { printf '%s\n' "$*" >&2; }

# fail MESSAGE HINT: in the words of the command line, so that every error looks alike.
fail() {
  say "error: $1"
  [ $# -lt 2 ] || say "hint: $2"
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# with_lock NAME COMMAND…: one process at a time. The lock is a symlink that names its owner, because creating one is
# atomic everywhere and macOS has no flock. A lock whose owner died is taken over; should two do so at once, both build
# into a place of their own and the rename at the end is atomic, so nothing worse than wasted work can happen.
with_lock() {
  local lock="$CONVEYOR_CACHE/$1.lock" owner told='' rc=0
  shift
  (umask 022 && mkdir -p "$CONVEYOR_CACHE")
  until ln -sn "$$" "$lock" 2>/dev/null; do
    owner=$(readlink "$lock" || true)
    if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then
      rm -f "$lock"
      continue
    fi
    [ -n "$told" ] || say "waiting: process $owner is already doing this"
    told=yes
    sleep 1
  done
  # The subshell keeps an `exit` in the command from leaving the lock behind.
  trap 'rm -f "$lock"; exit 130' INT TERM
  ("$@") || rc=$?
  rm -f "$lock"
  trap - INT TERM
  return "$rc"
}

# follow LOG PID WHAT ABOUT: says how far a long job is until it ends, and returns what it returned. Its log has a line for
# each thing done, ABOUT so many in all; past that it does not guess.
follow() {
  local log=$1 pid=$2 what=$3 about=$4 began=$SECONDS said=$SECONDS every=15 count
  [ ! -t 2 ] || every=1
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    [ $((SECONDS - said)) -ge "$every" ] || continue
    said=$SECONDS
    count=$(wc -l <"$log" | tr -d ' ')
    [ "$count" -ge "$about" ] || count="$count of about $about"
    progress "$what: $((SECONDS - began)) s, $count packages"
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
  wait "$pid"
}

progress() {
  if [ -t 2 ]; then printf '\r\033[K  %s' "$1" >&2; else say "  $1"; fi
}

# Any Go since 1.21 fetches by itself the newer toolchain that go.mod names.
go_usable() {
  local minor
  has go || return 1
  minor=$(go env GOVERSION | sed -n 's/^go1\.\([0-9][0-9]*\).*/\1/p')
  [ -n "$minor" ] && [ "$minor" -ge 21 ]
}

# Of the script that is run.
wrong_usage() {
  say "error: usage: $1"
  say "hint: ./${0##*/} --help lists the options"
  exit 2
}

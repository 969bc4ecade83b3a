# Finds, downloads or builds the Temporal CLI, which contains the development server; sourced by temporal-dev.sh.

TEMPORAL_VERSION=1.8.2
TEMPORAL_CACHED="$CONVEYOR_CACHE/bin/temporal-$TEMPORAL_VERSION"

# The path of the binary on stdout. Order: $TEMPORAL_CLI, PATH, cache, download, build.
install_temporal() {
  find_temporal || {
    with_lock "temporal-$TEMPORAL_VERSION" provide_temporal || exit 1
    printf '%s\n' "$TEMPORAL_CACHED"
  }
}

# As above, but only what is here already; returns 1 when nothing is.
find_temporal() {
  if [ -n "${TEMPORAL_CLI:-}" ]; then
    [ -x "$TEMPORAL_CLI" ] && [ ! -d "$TEMPORAL_CLI" ] ||
      fail "TEMPORAL_CLI is $TEMPORAL_CLI, which cannot be run" "correct it, or unset it and let Conveyor find or build one"
    printf '%s\n' "$TEMPORAL_CLI"
  elif has temporal && only_ours "$(command -v temporal)" && recent_enough temporal; then
    command -v temporal
  elif [ -x "$TEMPORAL_CACHED" ]; then
    require_unchanged "$TEMPORAL_CACHED" 'Temporal server' TEMPORAL_CLI
    printf '%s\n' "$TEMPORAL_CACHED"
  else
    return 1
  fi
}

# Older ones ignore the SQLite settings or lack features that the workflows use.
recent_enough() {
  local version major rest
  version=$("$1" --version 2>/dev/null | sed -n 's/^temporal version \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p')
  major=${version%%.*} rest=${version#*.}
  if [ -n "$version" ] && { [ "$major" -gt 1 ] || { [ "$major" -eq 1 ] && [ "$rest" -ge 4 ]; }; }; then return 0; fi
  say "note: not using the temporal on PATH: it is ${version:-of an unknown version} and 1.4 is needed"
  return 1
}

provide_temporal() {
  [ ! -x "$TEMPORAL_CACHED" ] || return 0 # whoever held the lock before us made it
  (umask 022 && mkdir -p "$CONVEYOR_CACHE/bin")
  download_temporal || build_temporal
}

download_temporal() {
  local archive digest work
  archive=$(temporal_archive) && digest=$(temporal_digest "$archive") && has curl && has tar || return 1
  work=$(mktemp -d "$CONVEYOR_CACHE/download.XXXXXX")
  say "Downloading $archive"
  if fetch_verified "$archive" "$digest" "$work" && tar -xzf "$work/$archive" -C "$work" temporal &&
    chmod 755 "$work/temporal" && keep "$work/temporal" "$TEMPORAL_CACHED"; then
    rm -rf "$work"
  else
    rm -rf "$work"
    return 1
  fi
}

fetch_verified() {
  local url="https://github.com/temporalio/cli/releases/download/v$TEMPORAL_VERSION/$1" reason found
  if ! reason=$(curl -fsSL --connect-timeout 5 --speed-time 30 --speed-limit 1024 -o "$3/$1" "$url" 2>&1); then
    say "  not available: $reason"
    return 1
  fi
  found=$(digest_of "$3/$1") || return 1
  [ "$found" = "$2" ] || fail "$url has the SHA-256 $found, not the pinned $2" \
    "do not run it; set TEMPORAL_CLI to a binary you trust, or CONVEYOR_TEMPORAL_SHA256 to a digest you checked"
}

temporal_archive() {
  local system machine
  case $(uname -s) in Linux) system=linux ;; Darwin) system=darwin ;; *) return 1 ;; esac
  case $(uname -m) in x86_64 | amd64) machine=amd64 ;; aarch64 | arm64) machine=arm64 ;; *) return 1 ;; esac
  printf 'temporal_cli_%s_%s_%s.tar.gz\n' "$TEMPORAL_VERSION" "$system" "$machine"
}

# The digests of the release's archives as several independent public projects pin them, all in agreement. A wrong one
# could only refuse a good archive, never accept a bad one.
temporal_digest() {
  if [ -n "${CONVEYOR_TEMPORAL_SHA256:-}" ]; then
    printf '%s\n' "$CONVEYOR_TEMPORAL_SHA256"
    return
  fi
  case $1 in
  temporal_cli_1.8.2_linux_amd64.tar.gz) echo d8421bda989e6514b4bdb4d63a9012a8a05a806892e881a5aad8510496349a94 ;;
  temporal_cli_1.8.2_linux_arm64.tar.gz) echo 83600a8fac6e3da54093e5da6918d399f501532b9f1172235603f9606f4ac6e4 ;;
  temporal_cli_1.8.2_darwin_amd64.tar.gz) echo 489d7f5420cae02b559774ac23df035141954c33a51dba96f5759a0ddccdf1b6 ;;
  temporal_cli_1.8.2_darwin_arm64.tar.gz) echo dacdc3587682c04cf27e67c8878ca2d755230b6ad63c0c6ebddd7348ae90ed94 ;;
  *) return 1 ;;
  esac
}

build_temporal() {
  local log="$CONVEYOR_CACHE/temporal-build.log" made="$TEMPORAL_CACHED.$$" pid
  go_usable || fail 'there is no Temporal server here, its download is out of reach and there is no Go to build it with' \
    'install the Temporal CLI 1.4 or newer (https://docs.temporal.io/cli) or Go 1.21 or newer (https://go.dev/dl), or set TEMPORAL_CLI to a temporal binary'
  say "Building the Temporal server $TEMPORAL_VERSION with $(go env GOVERSION): four to eight minutes on two cores, once for this machine"
  (
    cd "$ROOT/tools/temporal" && CGO_ENABLED=0 exec go build -v -mod=readonly -o "$made" \
      -ldflags "-s -w -X github.com/temporalio/cli/internal/temporalcli.Version=$TEMPORAL_VERSION" \
      github.com/temporalio/cli/cmd/temporal
  ) >"$log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null; rm -f "$made"; exit 130' INT TERM
  if ! follow "$log" "$pid" building 1921; then
    tail -n 15 "$log" >&2
    rm -f "$made"
    fail "the Temporal server could not be built; the whole log is $log" \
      'fix what it says, install the Temporal CLI (https://docs.temporal.io/cli), or set TEMPORAL_CLI to a temporal binary'
  fi
  chmod 755 "$made" && keep "$made" "$TEMPORAL_CACHED"
}

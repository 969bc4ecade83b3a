# Builds what a Temporal cluster consists of: the server and the tool that sets up its tables; sourced by temporal-cluster.sh.

SERVER_VERSION=1.31.2
SERVER_CACHED="$CONVEYOR_CACHE/bin/temporal-server-$SERVER_VERSION"
SQL_TOOL_CACHED="$CONVEYOR_CACHE/bin/temporal-sql-tool-$SERVER_VERSION"

# Order: $TEMPORAL_SERVER and $TEMPORAL_SQL_TOOL, cache, build.
install_server() {
  server=${TEMPORAL_SERVER:-$SERVER_CACHED} sql_tool=${TEMPORAL_SQL_TOOL:-$SQL_TOOL_CACHED}
  if [ -x "$server" ] && [ -x "$sql_tool" ]; then
    [ -n "${TEMPORAL_SERVER:-}" ] || require_unchanged "$server" 'Temporal server' TEMPORAL_SERVER
    [ -n "${TEMPORAL_SQL_TOOL:-}" ] || require_unchanged "$sql_tool" "tool of Temporal's tables" TEMPORAL_SQL_TOOL
    return
  fi
  [ -z "${TEMPORAL_SERVER:-}${TEMPORAL_SQL_TOOL:-}" ] ||
    fail "$server or $sql_tool cannot be run" 'correct TEMPORAL_SERVER and TEMPORAL_SQL_TOOL, or unset both and let Conveyor build them'
  with_lock "temporal-server-$SERVER_VERSION" build_server || exit 1
}

build_server() {
  go_usable || fail 'there is no Temporal server here, and no Go to build it with' \
    'install Go 1.21 or newer (https://go.dev/dl), or set TEMPORAL_SERVER and TEMPORAL_SQL_TOOL to those of a release (https://github.com/temporalio/temporal/releases)'
  (umask 022 && mkdir -p "$CONVEYOR_CACHE/bin")
  say "Building the Temporal server $SERVER_VERSION with $(go env GOVERSION): some minutes on two cores, once for this machine"
  build_program go.temporal.io/server/cmd/server "$SERVER_CACHED"
  build_program go.temporal.io/server/cmd/tools/sql "$SQL_TOOL_CACHED"
}

build_program() {
  local log="$CONVEYOR_CACHE/temporal-server-build.log" made="$2.$$" pid
  [ ! -x "$2" ] || return 0
  (cd "$ROOT/tools/temporal" && CGO_ENABLED=0 exec go build -v -mod=readonly -o "$made" -ldflags '-s -w' "$1") >"$log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null; rm -f "$made"; exit 130' INT TERM
  if ! follow "$log" "$pid" "building ${2##*/}" 900; then
    tail -n 15 "$log" >&2
    rm -f "$made"
    fail "${2##*/} could not be built; the whole log is $log" 'fix what it says, or set TEMPORAL_SERVER and TEMPORAL_SQL_TOOL'
  fi
  chmod 755 "$made" && keep "$made" "$2"
}

#!/usr/bin/env bash
# Temporal as production runs it, on one machine: PostgreSQL, and one or more of Temporal's real servers, each with all of its
# services. What ends is started again. For trying and testing; docs/guides/cluster.md says what a real one needs besides.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$ROOT/scripts/common.sh"
. "$ROOT/scripts/cached.sh"
. "$ROOT/scripts/temporal-cli.sh"
. "$ROOT/scripts/temporal-server.sh"
. "$ROOT/scripts/temporal-settings.sh"

usage() {
  cat <<'TEXT'
usage: ./temporal-cluster.sh [options]        run the cluster until Ctrl-C
       ./temporal-cluster.sh --install-only   get all that it consists of

  --port N        gRPC port of the first server (7233); a second one has that of ten more
  --servers N     how many servers, 1 to 9 (1)
  --data DIR      where PostgreSQL keeps its files (.conveyor/cluster in the checkout)
  --shards N      history shards, which stay as they are for good (64)
  --retention D   how long finished workflows are kept (90d)

The servers are $TEMPORAL_SERVER and $TEMPORAL_SQL_TOOL, else a build with Go in the cache; PostgreSQL is $CONVEYOR_POSTGRES, that
of this machine, or its package. Ports up to N + 200 are used; PostgreSQL has the last.
TEXT
}

main() {
  read_arguments "$@"
  if [ "$mode" = run ]; then
    # Whoever answers there already would be taken for ours, and get the namespace.
    require_free_port "$port" --port
    require_free_port "$postgres_port" --port PostgreSQL
  fi
  install_server
  postgres=$("$ROOT/scripts/postgres.sh")
  temporal=$(install_temporal)
  if [ "$mode" = install ]; then return; fi
  trap stop EXIT
  trap 'exit 130' INT TERM
  start_postgres
  set_up_schema
  start_server 0
  until_ready
  keep_running
}

read_arguments() {
  mode=run port=7233 servers=1 data="$ROOT/.conveyor/cluster" shards=64 retention=90d
  while [ $# -gt 0 ]; do
    case $1 in
    --install-only) mode=install ;;
    --port | --servers | --data | --shards | --retention)
      [ $# -ge 2 ] || wrong_usage "$1 needs a value"
      case $1 in
      --port) port=$2 ;; --servers) servers=$2 ;; --data) data=$2 ;; --shards) shards=$2 ;; --retention) retention=$2 ;;
      esac
      shift
      ;;
    -h | --help) usage; exit 0 ;;
    *) wrong_usage "unknown option $1" ;;
    esac
    shift
  done
  [[ $port =~ ^[0-9]{1,5}$ ]] && [ "$port" -ge 1024 ] && [ "$port" -le 32500 ] || wrong_usage "--port needs a number from 1024 to 32500, since the store of Temporal takes no higher one, not $port"
  [[ $servers =~ ^[1-9]$ ]] || wrong_usage "--servers needs a number from 1 to 9, not $servers"
  [[ $shards =~ ^[0-9]{1,5}$ ]] && [ "$shards" -ge 1 ] && [ "$shards" -le 16384 ] || wrong_usage "--shards needs a number from 1 to 16384, not $shards"
  check_retention "$retention"
  postgres_port=$((port + 200))
}

# PostgreSQL refuses to be root.
unprivileged() {
  if [ "$(id -u)" = 0 ]; then exec setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; else exec "$@"; fi
}

start_postgres() {
  local files="$data/postgres"
  mkdir -p "$data"
  if [ ! -e "$files/PG_VERSION" ]; then
    (umask 077 && mkdir -p "$files")
    [ "$(id -u)" != 0 ] || chown 65534:65534 "$files"
    (cd / && unprivileged "$postgres/initdb" -D "$files" -U temporal -A trust -E UTF8 --no-locale) >"$data/initdb.log" 2>&1 || {
      tail -n 5 "$data/initdb.log" >&2
      fail "PostgreSQL could not make its files in $files" 'choose a folder with --data that everybody may pass through, such as one in /var/tmp'
    }
  fi
  run_postgres
  local deadline=$((SECONDS + 60))
  until "$postgres/pg_isready" -q -h 127.0.0.1 -p "$postgres_port"; do
    kill -0 "$postgres_pid" 2>/dev/null && [ $SECONDS -lt $deadline ] || {
      tail -n 5 "$data/postgres.log" >&2
      fail "PostgreSQL does not start on port $postgres_port" 'stop what listens there, or choose another --port'
    }
    sleep 0.2
  done
}

run_postgres() {
  (cd / && unprivileged "$postgres/postgres" -D "$data/postgres" -h 127.0.0.1 -p "$postgres_port" -k '' -c max_connections=300 -c wal_level=replica) \
    >>"$data/postgres.log" 2>&1 &
  postgres_pid=$!
}

# The tables of this version; those of an older one are brought up to it.
set_up_schema() {
  local database of
  for database in temporal temporal_visibility; do
    of=${database#temporal_}
    if [ ! -e "$data/$database.made" ]; then
      sql "$database" create-database
      sql "$database" setup-schema --version 0.0
      touch "$data/$database.made"
    fi
    sql "$database" update-schema --schema-name "postgresql/v12/$of"
  done
}

sql() {
  local database=$1
  shift
  "$sql_tool" --plugin postgres12 --endpoint 127.0.0.1 --port "$postgres_port" --user temporal --password temporal --database "$database" "$@" \
    >>"$data/schema.log" 2>&1 || {
    tail -n 5 "$data/schema.log" >&2
    fail "the tables of $database could not be set up; the whole log is $data/schema.log" "it has the reason; what is half made is made anew once $data is removed"
  }
}

start_server() {
  local base=$((port + 10 * $1)) file="$data/server-$1.yaml"
  server_config "$base" >"$file"
  "$server" --config-file "$file" --allow-no-auth start >>"$data/server-$1.log" 2>&1 &
  server_pids[$1]=$!
}

# All of Temporal's services in one process, each with a port for its calls and one by which the servers find each other.
server_config() {
  local base=$1
  settings_file >"$data/settings.yaml"
  cat <<YAML
log: { stdout: true, level: warn }
persistence:
  defaultStore: main
  visibilityStore: visibility
  numHistoryShards: $shards
  datastores:
    main: { sql: { pluginName: postgres12, databaseName: temporal, connectAddr: '127.0.0.1:$postgres_port', connectProtocol: tcp, user: temporal, password: temporal, maxConns: 20, maxIdleConns: 20, maxConnLifetime: 1h } }
    visibility: { sql: { pluginName: postgres12, databaseName: temporal_visibility, connectAddr: '127.0.0.1:$postgres_port', connectProtocol: tcp, user: temporal, password: temporal, maxConns: 10, maxIdleConns: 10, maxConnLifetime: 1h } }
global:
  membership: { maxJoinDuration: 30s, broadcastAddress: 127.0.0.1 }
services:
  frontend: { rpc: { grpcPort: $base, membershipPort: $((base + 4)), bindOnLocalHost: true } }
  history: { rpc: { grpcPort: $((base + 1)), membershipPort: $((base + 5)), bindOnLocalHost: true } }
  matching: { rpc: { grpcPort: $((base + 2)), membershipPort: $((base + 6)), bindOnLocalHost: true } }
  worker: { rpc: { grpcPort: $((base + 3)), membershipPort: $((base + 7)), bindOnLocalHost: true } }
clusterMetadata:
  enableGlobalNamespace: false
  failoverVersionIncrement: 10
  masterClusterName: active
  currentClusterName: active
  clusterInformation: { active: { enabled: true, initialFailoverVersion: 1, rpcName: frontend, rpcAddress: '127.0.0.1:$base' } }
dcRedirectionPolicy: { policy: noop }
dynamicConfigClient: { filepath: '$data/settings.yaml', pollInterval: 10s }
YAML
}

# Namespace and search attributes are made once; asked again they stay.
until_ready() {
  local deadline=$((SECONDS + 90)) word index attributes=()
  until ask operator cluster health; do
    kill -0 "${server_pids[0]}" 2>/dev/null && [ $SECONDS -lt $deadline ] ||
      fail "the Temporal server at 127.0.0.1:$port does not answer" "its log is $data/server-0.log"
    sleep 0.3
  done
  # Not before: of two that are new at the same moment one fails.
  for index in $(seq 1 $((servers - 1))); do start_server "$index"; done
  ask operator namespace describe --namespace default || ask operator namespace create --namespace default --retention "$retention" ||
    fail 'the namespace could not be made' "the log of the server is $data/server-0.log"
  ask operator namespace update --namespace default --retention "$retention" || true
  # All at once: a server forgets one that it is given just before another.
  for word in $SEARCH_ATTRIBUTES; do attributes+=(--name "${word%=*}" --type "${word#*=}"); done
  until ask workflow count --namespace default --query "ConveyorPipeline = 'none' AND ConveyorFinders = 'none'"; do
    [ $SECONDS -lt $deadline ] || fail 'the search attributes could not be made' "the log of the server is $data/server-0.log"
    ask operator search-attribute create --namespace default "${attributes[@]}" || true
    sleep 0.5
  done
  printf 'Temporal ready at 127.0.0.1:%s (%s, PostgreSQL at 127.0.0.1:%s, data: %s)\n' "$port" "$(counted "$servers" server)" "$postgres_port" "$data"
}

counted() { if [ "$1" = 1 ]; then printf '1 %s' "$2"; else printf '%s %ss' "$1" "$2"; fi; }

ask() {
  "$temporal" "$@" --address "127.0.0.1:$port" --disable-config-env --disable-config-file --command-timeout 5s >/dev/null 2>&1
}

keep_running() {
  local index
  while sleep 0.5; do
    if ! kill -0 "$postgres_pid" 2>/dev/null; then
      say 'PostgreSQL has ended; it is started again'
      run_postgres
    fi
    for index in "${!server_pids[@]}"; do
      kill -0 "${server_pids[$index]}" 2>/dev/null && continue
      say "server $index has ended; it is started again"
      start_server "$index"
    done
  done
}

# Servers first, so that they do not complain of their database.
stop() {
  trap - EXIT INT TERM
  local pid
  for pid in ${server_pids[@]+"${server_pids[@]}"}; do kill "$pid" 2>/dev/null || true; done
  for pid in ${server_pids[@]+"${server_pids[@]}"}; do wait "$pid" 2>/dev/null || true; done
  [ -z "${postgres_pid:-}" ] || { kill -INT "$postgres_pid" 2>/dev/null && wait "$postgres_pid" 2>/dev/null; } || true
}

server_pids=()
main "$@"

#!/usr/bin/env bash
# The Temporal development server as Conveyor wants it: found, downloaded or built without asking, tuned, with the
# search attributes, on a file that keeps ninety days. Needs nothing else of this repository to be installed or built.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$ROOT/scripts/common.sh"
. "$ROOT/scripts/cached.sh"
. "$ROOT/scripts/temporal-cli.sh"
. "$ROOT/scripts/temporal-settings.sh"

usage() {
  cat <<'TEXT'
usage: ./temporal-dev.sh [options]            run the development server until Ctrl-C
       ./temporal-dev.sh --install-only       get the server; its path is the last line on stdout
       ./temporal-dev.sh --print-path         the path of the server if it is here already, else exit 1

  --port N        gRPC port (7233, or CONVEYOR_TEMPORAL_PORT)
  --ui-port N     Web UI port (port + 1000, or CONVEYOR_TEMPORAL_UI_PORT)
  --headless      no Web UI
  --db FILE       database (.conveyor/temporal.db in the checkout, or CONVEYOR_TEMPORAL_DB)
  --ephemeral     keep everything in memory instead
  --retention D   how long finished workflows are kept (90d)
  --log-level L   debug, info, warn, error or never (error)
  --set K=V       one more setting of its dynamic configuration, as JSON; may be repeated

The server is $TEMPORAL_CLI, `temporal` on PATH (1.4 or newer), the one in the cache, the official download, or a build
with Go, in this order; $TEMPORAL_CLI is taken as it is, one on PATH or in the cache only where nobody else may write it,
and one in the cache only while it has the SHA-256 that it had when it was put there. The cache is $CONVEYOR_CACHE, else $XDG_CACHE_HOME/conveyor, else ~/.cache/conveyor.
TEXT
}

main() {
  read_arguments "$@"
  case $mode in
  install) install_temporal ;;
  print) find_temporal || fail 'there is no Temporal server here yet' './temporal-dev.sh --install-only gets one' ;;
  run) run_server ;;
  esac
}

read_arguments() {
  mode=run port=${CONVEYOR_TEMPORAL_PORT:-7233} ui_port=${CONVEYOR_TEMPORAL_UI_PORT:-} headless=''
  db=${CONVEYOR_TEMPORAL_DB:-$ROOT/.conveyor/temporal.db} retention=90d log_level=error settings=()
  while [ $# -gt 0 ]; do
    case $1 in
    --install-only) mode=install ;;
    --print-path) mode=print ;;
    --headless) headless=yes ;;
    --ephemeral) db='' ;;
    --port | --ui-port | --db | --retention | --log-level | --set)
      [ $# -ge 2 ] || wrong_usage "$1 needs a value"
      case $1 in
      --port) port=$2 ;; --ui-port) ui_port=$2 ;; --db) db=$2 ;; --retention) retention=$2 ;; --log-level) log_level=$2 ;;
      --set) settings+=(--dynamic-config-value "$2") ;;
      esac
      shift
      ;;
    -h | --help) usage; exit 0 ;;
    *) wrong_usage "unknown option $1" ;;
    esac
    shift
  done
  check_port --port "$port"
  ui_port=${ui_port:-$((port + 1000))}
  check_port --ui-port "$ui_port"
  check_retention "$retention"
}

check_port() {
  case $2 in '' | *[!0-9]*) wrong_usage "$1 needs a number, not $2" ;; esac
  [ "$2" -ge 1 ] && [ "$2" -le 65535 ] || wrong_usage "$1 needs a number from 1 to 65535, not $2"
}

run_server() {
  local binary arguments word
  # A port that is taken is said before minutes are spent on a build.
  require_free_port "$port" --port
  [ -n "$headless" ] || { wait_for_port "$ui_port" && require_free_port "$ui_port" --ui-port; }
  binary=$(install_temporal)
  say "Temporal server: $binary"
  arguments=(server start-dev --ip 127.0.0.1 --port "$port" --log-level "$log_level")
  # Its HTTP API, on a port by chance, answers under any host name unless it is told otherwise.
  arguments+=(--dynamic-config-value 'frontend.httpAllowedHosts=["localhost:*","127.0.0.1:*"]')
  if [ -n "$headless" ]; then
    arguments+=(--headless)
  else
    hide_web_ui
    arguments+=(--ui-ip "$hidden_ip" --ui-port "$hidden_port" --ui-disable-news-fetch)
  fi
  if [ -n "$db" ]; then
    # It has the histories of everything, so only its user may read it.
    umask 077
    mkdir -p "$(dirname "$db")"
    chmod go-rwx "$db"* 2>/dev/null || true
    arguments+=(--db-filename "$db" --sqlite-pragma journal_mode=wal --sqlite-pragma synchronous=normal)
  fi
  for word in $DYNAMIC_CONFIG; do arguments+=(--dynamic-config-value "$word"); done
  arguments+=(${settings[@]+"${settings[@]}"})
  for word in $SEARCH_ATTRIBUTES; do arguments+=(--search-attribute "$word"); done
  # The server replaces this shell, so that whoever started the script can stop the server by the same process id.
  # What announces it may live a little longer, and must not keep the guard of the Web UI with it.
  announce "$binary" $$ 9>&- &
  exec "$binary" "${arguments[@]}" >/dev/null
}

# The guard of a Web UI whose server ended just now listens a moment longer.
wait_for_port() {
  local _
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    listens 127.0.0.1 "$1" || return 0
    sleep 0.2
  done
}

# The Web UI answers under any host name, so a page in a browser could let its own stand for 127.0.0.1 and read everything. It
# listens where no page finds it, and scripts/web-ui.js, which refuses such names, on the port that is printed.
hide_web_ui() {
  has node || fail 'there is no Node, which guards the Web UI' 'install Node 20.19 or newer, or run it with --headless'
  hidden_ip=127.0.0.1
  # Other systems have that address alone.
  [ "$(uname)" != Linux ] || hidden_ip=127.$((RANDOM % 254 + 1)).$((RANDOM % 256)).$((RANDOM % 254 + 1))
  while :; do
    hidden_port=$((10000 + RANDOM % 22768))
    listens "$hidden_ip" "$hidden_port" || break
  done
  # Its input ends with the server, which replaces this shell and keeps the other end open.
  exec 9> >(exec node "$ROOT/scripts/web-ui.js" "$ui_port" "$hidden_ip:$hidden_port" >/dev/null)
}

# Waits until the server answers, sets the retention (its namespace is born with one day, which would lose histories,
# reverts and deduplication) and says that it is ready.
announce() {
  local binary=$1 server=$2 address="127.0.0.1:$port" where=${db:-memory} deadline=$((SECONDS + 60))
  until ask "$binary" operator namespace update --namespace default --retention "$retention" && shows_web_ui; do
    kill -0 "$server" 2>/dev/null || exit 0
    if [ $SECONDS -ge $deadline ]; then
      say "error: the Temporal server at $address does not answer"
      kill "$server"
      exit 1
    fi
    sleep 0.1
  done
  if [ -n "$headless" ]; then
    printf 'Temporal ready at %s (data: %s)\n' "$address" "$where"
  else
    printf 'Temporal ready at %s, Web UI http://localhost:%s (data: %s)\n' "$address" "$ui_port" "$where"
  fi
}

shows_web_ui() { [ -n "$headless" ] || { listens "$hidden_ip" "$hidden_port" && listens 127.0.0.1 "$ui_port"; }; }

# The person's own Temporal settings (TLS, API keys, another address) must not reach the local server.
ask() {
  "$@" --address "$address" --disable-config-env --disable-config-file --command-timeout 5s >/dev/null 2>&1
}

main "$@"

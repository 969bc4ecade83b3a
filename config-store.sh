#!/usr/bin/env bash
# The store of configuration as production runs it, on one machine: an etcd that speaks TLS and asks each client for a certificate. If it ends, it is
# started again. For trying and testing; docs/guides/secure.md says what a real one needs besides.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$ROOT/scripts/common.sh"
. "$ROOT/scripts/temporal-settings.sh"

usage() {
  cat <<'TEXT'
usage: ./config-store.sh [options]   run the store until Ctrl-C

  --port N     its port for clients (2379); the next one is for its peers
  --data DIR   where it keeps its values and certificates (.conveyor/config-store in the checkout)

The etcd is $CONVEYOR_ETCD, else that of this machine, else its package. openssl makes an authority and certificates, once.
TEXT
}

main() {
  read_arguments "$@"
  has openssl || fail 'there is no openssl here, which makes the certificates' 'install it (Debian: apt-get install openssl)'
  require_free_port "$port" --port etcd
  require_free_port $((port + 1)) --port etcd
  etcd=$("$ROOT/scripts/etcd.sh")
  (umask 077 && mkdir -p "$data")
  data=$(cd "$data" && pwd)
  make_certificates
  trap stop EXIT
  trap 'exit 130' INT TERM
  start
  until_ready
  print_settings
  keep_running
}

read_arguments() {
  port=2379 data="$ROOT/.conveyor/config-store"
  while [ $# -gt 0 ]; do
    case $1 in
    --port | --data)
      [ $# -ge 2 ] || wrong_usage "$1 needs a value"
      case $1 in --port) port=$2 ;; --data) data=$2 ;; esac
      shift
      ;;
    -h | --help) usage; exit 0 ;;
    *) wrong_usage "unknown option $1" ;;
    esac
    shift
  done
  [[ $port =~ ^[0-9]{1,5}$ ]] && [ "$port" -ge 1024 ] && [ "$port" -le 65534 ] || wrong_usage "--port needs a number from 1024 to 65534, not $port"
}

# One for the member and one for all clients, which etcd tells apart by their passwords: etcd would take a name (CN) in a certificate for a user.
make_certificates() {
  local made
  ! openssl x509 -in "$data/client.pem" -noout -checkend 86400 >/dev/null 2>&1 || return 0
  made=$(mktemp -d "$data/made.XXXXXX")
  (
    umask 077
    cd "$made" &&
      openssl req -x509 "${NEW_KEY[@]}" -days 365 -subj '/CN=config store' -keyout ca.key -out ca.pem &&
      certify server 'subjectAltName=IP:127.0.0.1,DNS:localhost' &&
      certify client 'basicConstraints=CA:FALSE'
  ) >"$data/openssl.log" 2>&1 || fail 'openssl could not make the certificates' "$data/openssl.log has the reason"
  mv "$made"/*.pem "$made"/*.key "$data"
  rm -rf "$made"
}

NEW_KEY=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)

certify() {
  printf '%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$2" >"$1.ext"
  openssl req "${NEW_KEY[@]}" -subj '/O=conveyor' -keyout "$1.key" -out "$1.csr" &&
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 365 -extfile "$1.ext" -out "$1.pem"
}

start() {
  local url="https://127.0.0.1:$port" peers="http://127.0.0.1:$((port + 1))"
  "$etcd" --name one --data-dir "$data/etcd" --logger zap --log-level warn \
    --listen-client-urls "$url" --advertise-client-urls "$url" \
    --listen-peer-urls "$peers" --initial-advertise-peer-urls "$peers" --initial-cluster "one=$peers" \
    --cert-file "$data/server.pem" --key-file "$data/server.key" --trusted-ca-file "$data/ca.pem" --client-cert-auth \
    >>"$data/etcd.log" 2>&1 &
  etcd_pid=$!
}

until_ready() {
  local deadline=$((SECONDS + 30))
  until answers; do
    kill -0 "$etcd_pid" 2>/dev/null && [ $SECONDS -lt $deadline ] || {
      tail -n 3 "$data/etcd.log" >&2
      fail "etcd does not answer at https://127.0.0.1:$port" "its log is $data/etcd.log"
    }
    sleep 0.2
  done
}

answers() {
  printf 'GET /health HTTP/1.0\r\n\r\n' |
    openssl s_client -quiet -connect "127.0.0.1:$port" -CAfile "$data/ca.pem" -cert "$data/client.pem" -key "$data/client.key" 2>/dev/null |
    grep -q '"health": *"true"'
}

print_settings() {
  cat <<TEXT
Store of configuration ready at https://127.0.0.1:$port (data: $data)

In the conveyor.config.yaml of servers, workers and the service of configuration, under config.repositories.NAME:

      etcd:
        url: https://127.0.0.1:$port
        user: conveyor
        passwordEnv: CONVEYOR_ETCD_PASSWORD
        ca: $data/ca.pem
        cert: $data/client.pem
        key: $data/client.key

Then lock it: conveyor config lock-store --host HOST --out $data/hosts
Ctrl-C stops it; its values stay.
TEXT
}

keep_running() {
  while sleep 0.5; do
    kill -0 "$etcd_pid" 2>/dev/null && continue
    say 'etcd has ended; it is started again'
    start
  done
}

stop() {
  trap - EXIT INT TERM
  kill "$etcd_pid" 2>/dev/null || true
  wait "$etcd_pid" 2>/dev/null || true
}

main "$@"

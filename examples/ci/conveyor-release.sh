#!/bin/sh
# Starts a release from a CI job, and waits for its end if asked. Needs curl; openssl for `publish`. Copy it unchanged.
#
#   conveyor-release.sh release PIPELINE [-a NAME=VERSION[,KEY=VALUE…]]… [-k KEY] [--wait] [--timeout SECONDS]
#       asks the API for a release, on behalf of the principal of the token.
#   conveyor-release.sh publish FINDER [-w KEY=VALUE]… -a KIND=VERSION[,KEY=VALUE…] [-k KEY] [--wait] [--timeout SECONDS]
#       announces a new version to every pipeline that subscribes to it, by a signed Standard Webhooks delivery.
#
#   CONVEYOR_SERVER_URL      http://localhost:4500 unless set
#   CONVEYOR_CI_TOKEN        for `release`: the bearer token
#   CONVEYOR_WEBHOOK_SECRET  for `publish`: the secret, literal or as whsec_<base64>
#
# The same -k KEY (a build id) never starts a second release, so the job may be repeated. Retryable errors are retried
# until --timeout (600 s unless given). With --wait, `publish` waits for the first release.
#
# Exit codes, like those of `conveyor`: 0 ok · 1 error · 2 usage or invalid input · 3 the release ended not succeeded ·
# 4 not found or not permitted · 5 --timeout expired (the release continues). On stdout: the ids of the releases.
set -eu

url=${CONVEYOR_SERVER_URL:-http://localhost:4500}
url=${url%/}
# Protects the file that holds the token for a moment.
umask 077
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

say() { printf '%s\n' "$*" >&2; }
fail() {
  code=$1
  shift
  say "error: $*"
  exit "$code"
}
usage() {
  say "error: $1"
  sed -n 's/^#   \(conveyor-release.sh .*\)/usage: \1/p' "$0" >&2
  exit 2
}

# A JSON string of $1.
quote() { printf '"%s"' "$(printf '%s' "$1" | tr -d '\000-\037' | sed 's/\\/\\\\/g; s/"/\\"/g')"; }

# NAME=VERSION[,KEY=VALUE…] as JSON; $2 is the field for NAME.
artifact() {
  printf '%s' "$1" | grep -q '^[^=,][^=,]*=[^,]' || usage "$1 is not NAME=VERSION[,KEY=VALUE…]"
  head=${1%%,*}
  rest=${1#"$head"}
  fields="$(quote "$2"):$(quote "${head%%=*}"),\"version\":$(quote "${head#*=}")"
  metadata=
  while [ -n "$rest" ]; do
    rest=${rest#,}
    pair=${rest%%,*}
    rest=${rest#"$pair"}
    case $pair in
      kind=?* | uri=?* | digest=?*) fields="$fields,$(quote "${pair%%=*}"):$(quote "${pair#*=}")" ;;
      ?*=?*) metadata="$metadata${metadata:+,}$(quote "${pair%%=*}"):$(quote "${pair#*=}")" ;;
      *) usage "$pair is not KEY=VALUE" ;;
    esac
  done
  printf '{%s,"metadata":{%s}}' "$fields" "$metadata"
}

# The text of the first field with this name and a string value, from the JSON in a file.
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$2" | head -n 1; }
now() { date +%s; }
left() { echo $((deadline - $(now))); }
# The time limit of one request: 15 s, or the remaining time if that is less.
patience() {
  seconds=$(left)
  [ "$seconds" -lt 15 ] || seconds=15
  [ "$seconds" -gt 0 ] || seconds=1
  echo "$seconds"
}

# Sends the body, and retries as long as that may help; the answer is in $tmp/answer.
send() {
  while :; do
    authenticate
    status=$(curl -sS -m "$(patience)" -o "$tmp/answer" -w '%{http_code}' -X POST -H 'content-type: application/json' \
      -K "$tmp/config" --data-binary "@$tmp/body" "$url$1" 2>"$tmp/curl") || status=000
    why="$(field code "$tmp/answer" 2>/dev/null || :): $(field message "$tmp/answer" 2>/dev/null || :)"
    case $status in
      202) return ;;
      204) say 'no pipeline is concerned' && exit 0 ;;
      000) say "trying again: $(cat "$tmp/curl")" ;;
      408 | 429 | 5??) say "trying again: $status $why" ;;
      401 | 403 | 404) fail 4 "$status $why" ;;
      400 | 413 | 422) fail 2 "$status $why" ;;
      *) fail 1 "$status $why" ;;
    esac
    [ "$(left)" -gt 0 ] || fail 5 "$url did not take it in time"
    sleep 2
  done
}

# Writes the headers that authenticate us. Uses a file, because every user of the machine can read command lines.
authenticate() {
  if [ "$command" = release ]; then
    header "authorization: Bearer $CONVEYOR_CI_TOKEN" >"$tmp/config"
  else
    # Signs each try: the server rejects a delivery with an old timestamp.
    sign
    { header "webhook-id: $key" && header "webhook-timestamp: $timestamp" && header "webhook-signature: $signature"; } >"$tmp/config"
  fi
}
header() { printf 'header = %s\n' "$(quote "$1")"; }

sign() {
  timestamp=$(now)
  case $secret in
    whsec_*) hex=$(printf '%s' "${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n') ;;
    *) hex=$(printf '%s' "$secret" | od -An -v -tx1 | tr -d ' \n') ;;
  esac
  { printf '%s.%s.' "$key" "$timestamp" && cat "$tmp/body"; } >"$tmp/signed"
  signature="v1,$(openssl dgst -sha256 -mac HMAC -macopt "hexkey:$hex" -binary "$tmp/signed" | openssl base64 -A)"
}

# The message of its first failed action.
whyEnded() {
  tr '{' '\n' <"$tmp/status" |
    sed -n 's/^.*"name":"\([^"]*\)".*"state":"failed".*"message":"\([^"]*\)".*/: \1: \2/p' | head -n 1
}

# Polls until the release has ended.
await() {
  while :; do
    curl -sS -m "$(patience)" -o "$tmp/status" "$url/v1/releases/$1" 2>/dev/null || :
    # The state of the release comes before those of its actions.
    state=$(sed -n 's/^[^[]*"state":"\([a-z]*\)".*/\1/p' "$tmp/status" 2>/dev/null)
    case $state in
      succeeded) say "$1 succeeded" && return ;;
      failed | cancelled) fail 3 "$1 $state$(whyEnded)" ;;
    esac
    [ "$(left)" -gt 0 ] || fail 5 "$1 continues (${state:-unknown}); see $url/v1/releases/$1"
    sleep 2
  done
}

command=${1:-}
target=${2:-}
case $command in
  release) role=name ;;
  publish) role=kind ;;
  -h | --help) usage 'what there is' ;;
  *) usage "${command:-nothing} is neither release nor publish" ;;
esac
[ -n "$target" ] || usage "$command needs to know of what"
shift 2

artifacts='' given=0 with='' key='' wait='' timeout=600
while [ $# -gt 0 ]; do
  case $1 in
    --wait) wait=yes && shift && continue ;;
    -a | -k | -w | --timeout) [ $# -gt 1 ] || usage "$1 needs a value" ;;
    *) usage "$1 is not an option" ;;
  esac
  case $1 in
    -a)
      one=$(artifact "$2" "$role") || exit
      artifacts="$artifacts${artifacts:+,}$one" given=$((given + 1))
      ;;
    -k)
      case $2 in '' | *[!A-Za-z0-9._:@/-]*) usage "-k $2 may hold letters, digits and . _ : @ / - only" ;; esac
      key=$2
      ;;
    -w) with="$with${with:+,}$(quote "${2%%=*}"):$(quote "${2#*=}")" ;;
    --timeout) timeout=$2 ;;
  esac
  shift 2
done
case $timeout in '' | *[!0-9]*) usage "--timeout $timeout is not a number of seconds" ;; esac
deadline=$(($(now) + timeout))

if [ "$command" = release ]; then
  [ -n "${CONVEYOR_CI_TOKEN:-}" ] || usage 'CONVEYOR_CI_TOKEN is not set'
  case $target in *[!a-z0-9-]*) usage "$target is not the name of a pipeline" ;; esac
  printf '{"artifacts":[%s]%s}' "$artifacts" "${key:+,\"idempotencyKey\":$(quote "$key")}" >"$tmp/body"
  send "/v1/pipelines/$target/releases"
else
  secret=${CONVEYOR_WEBHOOK_SECRET:-}
  [ -n "$secret" ] || usage 'CONVEYOR_WEBHOOK_SECRET is not set'
  [ "$given" = 1 ] || usage 'publish needs one -a KIND=VERSION'
  key=${key:-msg-$(openssl rand -hex 12)}
  printf '{"type":"artifact.published","data":{"finder":%s,"with":{%s},"artifact":%s}}' \
    "$(quote "$target")" "$with" "$artifacts" >"$tmp/body"
  send /v1/webhooks/standard
fi

ids=$(tr '{' '\n' <"$tmp/answer" | sed -n 's/^.*"id":"\([^"]*\)".*/\1/p')
[ -n "$ids" ] || { say "accepted, but nothing starts yet: $(cat "$tmp/answer")" && exit 0; }
printf '%s\n' "$ids"
[ -z "$wait" ] || await "$(printf '%s\n' "$ids" | head -n 1)"

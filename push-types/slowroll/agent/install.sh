#!/bin/sh
# Installs the agent of a host: checks Node and the digest of the bundle, then copies the bundle and starts it with systemd. It asks nothing, and may run again.
set -eu

bundle= digest= server= token= keys= host= user=root labels= more= cert= key= root= start=yes

usage() {
  cat >&2 <<'EOF'
usage: install.sh --bundle FILE --sha256 DIGEST --manifests URL (--token-file FILE | --cert FILE --key FILE) --keys FILE [options]
  --bundle FILE       conveyor-agent.js
  --sha256 DIGEST     its digest, from a place that you trust
  --manifests URL        the manifest server
  --token-file FILE   the token of this host
  --cert FILE         the certificate of this host, in PEM, instead of a token or besides it
  --key FILE          its private key
  --keys FILE         the public keys that may sign manifests
  --host NAME         the name of this host (default: its own)
  --label KEY=VALUE   a label of this host; repeatable
  --ca FILE           the authority that signed the certificate of the server
  --user NAME         the user of the agent (default root)
  --root DIR          writes below this folder and starts nothing, for images
  --no-start          enables nothing and starts nothing
EOF
  exit 2
}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

plain() {
  case $2 in *[!A-Za-z0-9._:/@=+-]*) fail "$1 $2: expected letters, digits and . _ : / @ = + -" ;; esac
}

while [ $# -gt 0 ]; do
  case $1 in
    --no-start) start=no && shift && continue ;;
    --bundle | --sha256 | --manifests | --token-file | --cert | --key | --keys | --host | --label | --ca | --user | --root) ;;
    *) usage ;;
  esac
  [ $# -ge 2 ] || usage
  case $1 in
    --bundle) bundle=$2 ;;
    --sha256) digest=$2 ;;
    --manifests) plain "$1" "$2" && server=$2 ;;
    --token-file) token=$2 ;;
    --cert) cert=$2 ;;
    --key) key=$2 ;;
    --keys) keys=$2 ;;
    --host) plain "$1" "$2" && host="--host $2" ;;
    --label) plain "$1" "$2" && labels="$labels --label $2" ;;
    --ca) more=$2 ;;
    --user) plain "$1" "$2" && user=$2 ;;
    --root) root=$2 && start=no ;;
  esac
  shift 2
done
for needed in "$bundle" "$digest" "$server" "$token$cert" "$keys"; do [ -n "$needed" ] || usage; done
[ -z "$cert" ] || [ -n "$key" ] || fail "--cert and --key are needed together"
[ -z "$key" ] || [ -n "$cert" ] || fail "--cert and --key are needed together"
for file in "$bundle" "$keys" "$token" "$cert" "$key" "$more"; do
  [ -z "$file" ] || [ -r "$file" ] || fail "$file cannot be read"
done

node=$(command -v node) || fail "there is no node in PATH: install Node 20.19 or newer"
"$node" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
  fail "$node is $("$node" --version), and Node 20.19 or newer is needed"
command -v flock >/dev/null || fail "there is no flock in PATH: install util-linux"

have=$(sha256sum "$bundle" | cut -d ' ' -f 1)
[ "$have" = "${digest#sha256:}" ] || fail "$bundle has the digest $have, not ${digest#sha256:}"

etc=/etc/conveyor-agent home=/var/lib/conveyor-agent unit=/etc/systemd/system/conveyor-agent.service
mkdir -p "$root$etc" "$root$home/bundled" "$root$(dirname $unit)"
umask 077
identity=
if [ -n "$token" ]; then
  install -m 600 "$token" "$root$etc/token"
  identity="--token-file $etc/token"
fi
if [ -n "$cert" ]; then
  install -m 644 "$cert" "$root$etc/host.pem"
  install -m 600 "$key" "$root$etc/host.key"
  identity="$identity --cert $etc/host.pem --key $etc/host.key"
fi
install -m 644 "$keys" "$root$etc/manifest-keys.pem"
ca=
if [ -n "$more" ]; then
  install -m 644 "$more" "$root$etc/ca.pem"
  ca="--ca $etc/ca.pem"
fi
# Under another name first: a running agent never sees half of it.
install -m 755 "$bundle" "$root$home/bundled/conveyor-agent.js.new"
mv -f "$root$home/bundled/conveyor-agent.js.new" "$root$home/bundled/conveyor-agent.js"
# An agent that replaced itself stays in charge; its link leads to a release that has reported.
[ -e "$root$home/conveyor-agent.js" ] || ln -sfn bundled/conveyor-agent.js "$root$home/conveyor-agent.js"

cat >"$root$etc/options" <<EOF
CONVEYOR_AGENT_OPTIONS=--manifests $server $identity --keys $etc/manifest-keys.pem --home $home $host$labels $ca
EOF
chmod 644 "$root$etc/options"
sed -e "s|@NODE@|$node|" -e "s|@USER@|$user|" "$(dirname "$0")/conveyor-agent.service" >"$root$unit"
chmod 644 "$root$unit"

if [ "$user" != root ] && [ -z "$root" ]; then
  for file in token host.key; do [ ! -e "$etc/$file" ] || chown "$user" "$etc/$file"; done
  chown -R "$user" "$home"
fi
if [ "$start" = yes ]; then
  systemctl daemon-reload
  systemctl enable conveyor-agent.service
  systemctl restart conveyor-agent.service
  echo "conveyor-agent runs: systemctl status conveyor-agent"
else
  echo "conveyor-agent is installed below ${root:-/}"
fi

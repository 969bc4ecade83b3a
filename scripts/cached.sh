# Programs that were fetched or built once run only while they are unchanged; source this after common.sh.

# keep MADE PLACE: puts a file or a folder at its place in the cache, and records its digest before it has that name.
keep() {
  record "$1" "$2"
  rm -rf "$2"
  mv "$1" "$2"
}

record() { printf '%s  %s\n' "$(digest_of "$1")" "${2##*/}" >"$2.sha256"; }

# require_unchanged PLACE WHAT VARIABLE: fails unless it is what was kept there, and only its owner could write it. One from before there were
# records gets its own.
require_unchanged() {
  local place found recorded again="remove $1* and let Conveyor get it again, or set $3 to one you trust"
  for place in "$1" "$(dirname "$1")" "$CONVEYOR_CACHE"; do
    ! others_may_write "$place" || fail "others may write $place, so that the $2 in it may be anybody's" \
      "chmod go-w $place if nobody did, else $again"
  done
  found=$(digest_of "$1") || return 0
  if [ ! -e "$1.sha256" ]; then record "$1" "$1"; fi
  recorded=$(cut -d' ' -f1 "$1.sha256")
  [ "$found" = "$recorded" ] ||
    fail "$1 has the SHA-256 $found, not the $recorded that it had when Conveyor got it" "do not run it; $again"
}

# Anybody who may write a program decides what it does: only root and the user who runs it may write it.
only_ours() {
  local path=$1 place
  for place in "$path" "$(dirname "$path")"; do
    if others_may_write "$place"; then
      say "note: not using the ${path##*/} on PATH: others may write $place"
      return 1
    fi
  done
}

# Whether it belongs to somebody else, or everybody or a group other than the user's own may write it.
others_may_write() {
  local group=''
  [ "$(id -u)" = "$(id -g)" ] || group="-o -perm -0020"
  # shellcheck disable=SC2086
  [ -n "$(find -L "$1" -prune \( ! \( -user "$(id -u)" -o -user 0 \) -o -perm -0002 $group -o -perm -0020 ! -group "$(id -g)" \))" ]
}

# Prints the SHA-256 of a file, or for a folder that of a list of all its files and links. Fails if nothing can compute it.
digest_of() {
  has sha256sum || has shasum || return 1
  if [ -d "$1" ]; then (cd "$1" && list_all | digests_of -); else digests_of "$1"; fi | cut -d' ' -f1
}

list_all() {
  local link
  find . -type f -print0 | LC_ALL=C sort -z | xargs -0 "${SHA256[@]}"
  find . -type l | LC_ALL=C sort | while IFS= read -r link; do printf '%s -> %s\n' "$link" "$(readlink "$link")"; done
}

# Prints the SHA-256 and the name of each file, one a line; `-` is standard input.
digests_of() { "${SHA256[@]}" "$@"; }

SHA256=(sha256sum)
has sha256sum || SHA256=(shasum -a 256)

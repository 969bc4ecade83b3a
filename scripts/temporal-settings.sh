# What the scripts that run Temporal share: how Conveyor wants its server, be it for development or a cluster, and what they check; sourced.

# domain/searchAttributes.ts lists the same; a test keeps the two equal. An attribute that is not registered would make
# every workflow that sets it fail its task and try again for ever.
SEARCH_ATTRIBUTES='
  ConveyorPipeline=Keyword
  ConveyorRelease=Keyword
  ConveyorState=Keyword
  ConveyorOutcome=Keyword
  ConveyorPhase=Keyword
  ConveyorPushType=Keyword
  ConveyorArtifact=Keyword
  ConveyorOwners=KeywordList
  ConveyorLabels=KeywordList
  ConveyorFinders=KeywordList
'

# One history shard polls for activities twenty times a second and rounds timers to a second unless it is told otherwise:
# 105 ms for an activity instead of 11. Each poll for timers, of which twenty a second are enough, reads past all that have
# fired until it forgets them, which is every half minute unless it is told otherwise. Fairness keeps one pipeline's releases
# from starving the others'. Ten lists a second are few for people, finders, metrics and the archive together.
DYNAMIC_CONFIG='
  history.transferProcessorMaxPollRPS=2000
  history.timerProcessorMaxTimeShift="1ms"
  history.timerProcessorUpdateAckInterval="1s"
  matching.enableFairness=true
  frontend.namespaceRPS.visibility=100
'

# For a server that reads its settings from a file.
settings_file() {
  local word
  for word in $DYNAMIC_CONFIG; do printf '%s:\n  - value: %s\n' "${word%%=*}" "${word#*=}"; done
}

# listens HOST PORT: loopback connects answer at once, so nothing else is needed to know whether a process listens.
listens() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

require_free_port() {
  local already=''
  [ -n "${3:-}" ] || already=' (it may be a Temporal server already: http://localhost:8233)'
  ! listens 127.0.0.1 "$1" ||
    fail "port-in-use: port $1 is taken, so ${3:-the Temporal server} cannot listen on it" \
      "stop what listens there$already, or choose another with $2"
}

check_retention() { [[ $1 =~ ^[0-9]+[dh]$ ]] || wrong_usage "--retention needs days or hours such as 90d, not $1"; }

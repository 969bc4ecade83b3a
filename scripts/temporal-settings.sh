# How Conveyor wants its Temporal server, be it for development or a cluster; sourced.

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

# One history shard polls twenty times a second and rounds timers to a second unless it is told otherwise: 105 ms for an
# activity instead of 11. Fairness keeps one pipeline's releases from starving the others'.
DYNAMIC_CONFIG='
  history.transferProcessorMaxPollRPS=2000
  history.timerProcessorMaxPollRPS=2000
  history.timerProcessorMaxTimeShift="1ms"
  matching.enableFairness=true
'

# For a server that reads its settings from a file.
settings_file() {
  local word
  for word in $DYNAMIC_CONFIG; do printf '%s:\n  - value: %s\n' "${word%%=*}" "${word#*=}"; done
}

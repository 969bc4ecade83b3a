/**
 * The attributes by which the Temporal Web UI and `list` find workflows (docs/design/workflows.md#in-the-web-ui).
 * `temporal-dev.sh` registers the same ones on a development server; a test keeps the two equal. SQL stores have ten
 * slots for keywords and three for lists.
 */
export const SEARCH_ATTRIBUTES = {
  ConveyorPipeline: 'KEYWORD',
  ConveyorRelease: 'KEYWORD',
  ConveyorState: 'KEYWORD',
  ConveyorOutcome: 'KEYWORD',
  ConveyorPhase: 'KEYWORD',
  ConveyorPushType: 'KEYWORD',
  ConveyorArtifact: 'KEYWORD',
  ConveyorOwners: 'KEYWORD_LIST',
  ConveyorLabels: 'KEYWORD_LIST',
  ConveyorFinders: 'KEYWORD_LIST',
} as const satisfies Record<string, 'KEYWORD' | 'KEYWORD_LIST'>;

import { hasActionEnded } from './release/nextActions';
import { withReason } from './text';
import type { DeployStatus, ReleaseStatus } from './views';

/** The end of a workflow from outside: through Temporal, by a person or a server. */
export interface EndedOutside {
  readonly at: string;
  readonly how: 'terminated' | 'cancelled' | 'failed' | 'timed out';
  /** The reason given for it; empty if there is none. */
  readonly reason: string;
}

const outsideText = ({ how, reason }: EndedOutside): string => withReason(`${how} through Temporal`, reason);

type Release = Omit<ReleaseStatus, 'webUi' | 'children'>;

/** A release whose workflow is gone ended with it; its last own status is older than its end. */
export function releaseEndedOutside<T extends Release>(status: T, outside: EndedOutside): T {
  const text = outsideText(outside);
  return {
    ...status,
    state: 'failed',
    endedAt: outside.at,
    actions: status.actions.map((action) =>
      hasActionEnded(action.state)
        ? action
        : {
            ...action,
            state: 'cancelled',
            blockedBy: null,
            until: null,
            endedAt: outside.at,
            message: `its release was ${text}`,
          },
    ),
    timeline: [...status.timeline, { at: outside.at, kind: ENDED_OUTSIDE, text: `the release was ${text}` }],
  };
}

const ENDED_OUTSIDE = 'ended-outside';

/** Why a release is over, if it was ended from outside. */
export const whyEndedOutside = ({ timeline }: Pick<ReleaseStatus, 'timeline'>): string | undefined =>
  timeline.findLast(({ kind }) => kind === ENDED_OUTSIDE)?.text;

export function deployEndedOutside<T extends Omit<DeployStatus, 'webUi'>>(status: T, outside: EndedOutside): T {
  const text = `the deploy was ${outsideText(outside)}`;
  return {
    ...status,
    state: 'ended',
    outcome: 'failed',
    ...{ classification: 'bad-failure', blame: 'ended through Temporal' },
    paused: null,
    endedAt: outside.at,
    summary: `${text}; the fleet is as it left it`,
    timeline: [...status.timeline, { at: outside.at, kind: ENDED_OUTSIDE, text }],
    next: [`conveyor status ${status.id}`, `conveyor history ${status.id.split('/')[0] ?? ''}`],
  };
}

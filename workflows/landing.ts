import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineUpdate,
  setHandler,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import {
  EMPTY_STRIP,
  nextToLand,
  enqueueChange,
  withLanded,
  whyNotLand,
  type Landing,
  type LandRequest,
  type Strip,
} from '../configerator/domain/landing';
import { list, formatMarkdown, sections } from '../domain/markdown';
import { rootCause } from '../domain/rootCause';
import { conjugate, plural } from '../domain/text';
import { showDetails } from './details';
import { landers } from './proxies';
import { buildVersioningOptions } from './versioning';

export interface LandingOrder {
  readonly repository: string;
  readonly heartbeatTimeoutMs: number;
}

/** The type of the failure with which a request is refused. */
const LANDING_REFUSED = 'landing-refused';

/**
 * A request to land a change. It is answered once the change has landed, or with the reason why it will not. Repeated
 * requests count as one.
 */
const landUpdate = defineUpdate<Landing, [LandRequest | undefined]>('land');
const stripQuery = defineQuery<Strip>('strip');

/**
 * The landing strip of one repository. Changes land in the order of their requests, several at once if several wait; changes that take something
 * back go first. It keeps no state that is not in the repository: after a crash, or under a new history, a caller that asks again gets the commit
 * that landed the change. A Temporal cancel request does not end it.
 */
export async function landing(order: LandingOrder): Promise<void> {
  const scope = CancellationScope.current();
  scope.cancelRequested.catch(() => undefined);
  return CancellationScope.nonCancellable(() => keep(order));
}
setWorkflowOptions(buildVersioningOptions('landing'), landing);

async function keep(order: LandingOrder): Promise<void> {
  let strip = EMPTY_STRIP;
  const listeners = new Map<number, ((landing: Landing) => void)[]>();
  setHandler(stripQuery, () => strip);
  setHandler(
    landUpdate,
    (request = { change: 0 }) => {
      strip = enqueueChange(strip, request);
      const { change } = request;
      return new Promise<Landing>((settle) => listeners.set(change, [...(listeners.get(change) ?? []), settle]));
    },
    { validator: (request) => refuse(strip, request) },
  );
  showDetails(() => describe(order, strip));
  for (;;) {
    await condition(() => strip.waiting.length > 0 || (workflowInfo().continueAsNewSuggested && allHandlersFinished()));
    const next = nextToLand(strip);
    if (next.length === 0) await continueAsNew<typeof landing>(order);
    const landed = await land(order, next);
    strip = withLanded(strip, landed);
    for (const one of landed) {
      for (const settle of listeners.get(one.change) ?? []) settle(one);
      listeners.delete(one.change);
    }
  }
}

/** While the line empties for a new history, no request joins it. A caller that asks again reaches the new history. */
function refuse(strip: Strip, request: LandRequest | undefined): void {
  const isLast = workflowInfo().continueAsNewSuggested;
  const why = isLast ? 'the landing strip continues under a new history in a moment' : whyNotLand(strip, request);
  if (why !== undefined)
    throw ApplicationFailure.create({ message: why, type: LANDING_REFUSED, nonRetryable: !isLast });
}

/** A failure that no retry fixes is the answer to all of them. */
async function land(
  { repository, heartbeatTimeoutMs }: LandingOrder,
  requests: readonly LandRequest[],
): Promise<readonly Landing[]> {
  const changes = requests.map(({ change }) => change);
  const commits = Object.fromEntries(requests.flatMap(({ change, commit }) => (commit ? [[change, commit]] : [])));
  try {
    return await landers(heartbeatTimeoutMs).landChanges({ repository, changes, commits, heartbeatTimeoutMs });
  } catch (error) {
    const code =
      error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause.type : null;
    const hint = 'nothing of it landed; ask again once that is fixed';
    const refused = { code: code ?? 'internal', message: rootCause(error), hint };
    return changes.map((change) => ({ change, refused }));
  }
}

const describe = ({ repository }: LandingOrder, { waiting, landed }: Strip): string =>
  sections(
    formatMarkdown`Landing strip of **${repository}**: ${plural(waiting.length, 'change')} ${conjugate(waiting.length, 'wait')}.`,
    list(
      'Newest:',
      landed
        .slice(0, 10)
        .map((one) =>
          'commit' in one
            ? formatMarkdown`${String(one.change)} landed as ${one.commit}`
            : formatMarkdown`${one.refused.message}`,
        ),
    ),
  );

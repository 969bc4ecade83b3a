import { deployId } from '../ids';
import { plural } from '../text';
import type { DeployRow, HistoryRow, Override } from '../views';

/** The evidence about a version from the fate of its deploy. */
export interface Truth {
  readonly kind: 'good' | 'bad' | 'unknown';
  /** One short phrase: `reverted by health`, `rolled back by user:ana in kvstore/14`. */
  readonly why: string;
  /**
   * The finder of the fault: `health` also if a person let its anomalies pass; null if the version is not bad, or if there is no record.
   */
  readonly foundBy: 'health' | 'person' | null;
  /** Checks that were unhealthy and that a person let pass. */
  readonly overridden: readonly Override[];
}

/**
 * The evidence about each deploy in the history of a pipeline, by its id `pipeline/number/action`; only the last of several attempts
 * shows. People also undo good versions, so `bad` that a person found is an upper bound (Conveyor §6.4.2).
 */
export function findTruths(history: readonly HistoryRow[]): ReadonlyMap<string, Truth> {
  const rows = [...history].sort((a, b) => a.number - b.number);
  const truths = rows.flatMap((row) =>
    [...new Set(row.deploys.map(({ action }) => action))].flatMap((action) => {
      const deploy = lastDeploy(row, action);
      return deploy ? [[deployId(row.pipeline, row.number, action), findTruth({ row, deploy }, rows)] as const] : [];
    }),
  );
  return new Map(truths);
}

/** One deploy of one release. */
interface DeployInHistory {
  readonly row: HistoryRow;
  readonly deploy: DeployRow;
}

const lastDeploy = (row: HistoryRow, action: string): DeployRow | undefined =>
  row.deploys.findLast((deploy) => deploy.action === action);

function findTruth(one: DeployInHistory, rows: readonly HistoryRow[]): Truth {
  const { row, deploy } = one;
  const overridden = row.deploys.flatMap(({ action, overridden: some = [] }) => (action === deploy.action ? some : []));
  return { ...judgeFate(one, rows, overridden), overridden };
}

type Fate = Omit<Truth, 'overridden'>;

const unknownFate = (why: string): Fate => ({ kind: 'unknown', why, foundBy: null });

function judgeFate(one: DeployInHistory, rows: readonly HistoryRow[], overridden: readonly Override[]): Fate {
  const { row, deploy } = one;
  if (row.trigger.kind === 'rollback') return unknownFate('a rollback, which brings back what ran before');
  if (row.trigger.kind === 'undeploy') return unknownFate('an undeploy, which removes what ran before');
  if (row.trigger.kind === 'follow-on')
    return unknownFate('a follow-on, which brings units to the version of the others');
  switch (deploy.outcome) {
    case 'succeeded':
      return judgeSuccess(one, rows, overridden);
    case 'reverted':
    case 'revert-failed':
      return judgeRevert(one, rows);
    case 'failed':
    case 'cancelled':
      return unknownFate(deploy.outcome);
  }
}

/** The fate of a deploy that succeeded. */
function judgeSuccess(
  { row, deploy }: DeployInHistory,
  rows: readonly HistoryRow[],
  overridden: readonly Override[],
): Fate {
  const foundBy = overridden.length > 0 ? 'health' : 'person';
  const undoing = rows.find(({ trigger }) => trigger.kind === 'rollback' && trigger.of === row.number);
  if (undoing) {
    const why = `rolled back by ${undoing.trigger.actor} in ${undoing.id}`;
    return undoing.trigger.notBad ? unknownFate(`${why}, as not bad`) : { kind: 'bad', why, foundBy };
  }
  const next = nextDeploy({ row, deploy }, rows);
  if (next?.row.trigger.kind === 'emergency' && next.deploy.version !== deploy.version)
    return { kind: 'bad', why: `replaced by the emergency ${next.row.id} of ${next.row.trigger.actor}`, foundBy };
  const elsewhere = row.deploys.find(({ action, reverted }) => action !== deploy.action && reverted?.bad);
  if (elsewhere) return unknownFate(`succeeded, but ${elsewhere.action} of the same release was reverted`);
  const [first] = overridden;
  if (first === undefined) return { kind: 'good', why: 'succeeded', foundBy: null };
  const checks = overridden.length === 1 ? first.check : plural(overridden.length, 'check');
  return { kind: 'good', why: `succeeded after ${first.actor} let ${checks} pass`, foundBy: null };
}

/**
 * The next release that deployed the same action and was not cancelled: a cancelled deploy is no evidence about the version before.
 */
function nextDeploy(
  { row, deploy: { action } }: DeployInHistory,
  rows: readonly HistoryRow[],
): DeployInHistory | undefined {
  for (const later of rows) {
    const deploy = lastDeploy(later, action);
    if (later.number > row.number && later.trigger.kind !== 'follow-on' && deploy && deploy.outcome !== 'cancelled')
      return { row: later, deploy };
  }
  return undefined;
}

function judgeRevert({ row, deploy }: DeployInHistory, rows: readonly HistoryRow[]): Fate {
  const { outcome, classification, reverted, version, action } = deploy;
  if (reverted === undefined) return unknownFate('reverted, and who did is not on record');
  const why = outcome === 'reverted' ? `reverted by ${reverted.by}` : `${reverted.by} ended its revert`;
  if (!reverted.bad) return unknownFate(`${why}, as not bad`);
  if (outcome === 'revert-failed') return { kind: 'bad', why, foundBy: null };
  if (classification === 'bad-failure') return unknownFate(`${why} while it waited for something else than its health`);
  const again = rows.find(
    (later) =>
      later.number > row.number &&
      isThrough(lastDeploy(later, action)) &&
      lastDeploy(later, action)?.version === version,
  );
  if (again) return unknownFate(`${why}, but the same version came through in ${again.id}`);
  return { kind: 'bad', why, foundBy: reverted.by === 'health' ? 'health' : 'person' };
}

const isThrough = (deploy: DeployRow | undefined): boolean => deploy?.outcome === 'succeeded';

import type { Context } from 'hono';
import type { OfferedCommand } from '../../domain/commandOffers';
import type { ForViewer, HomeModel, ListedRelease } from '../../pages/models';
import { isPausedForPerson, waitsForPick } from '../../pages/waits';
import type { Caller } from '../auth';
import { decideCommand } from '../rights';
import type { PageEnv } from '../sessions/viewer';
import type { CommandPages } from './commands';
import { unlessLate } from './looks';

/** The rows of each kind whose rights are looked up for one reader. */
const MOST_ROWS_DECIDED = 25;

/** The releases and pipelines that wait for this reader, who may approve, resume or let them continue. Null without a session. */
export async function findForViewer(
  c: Context,
  { reads, deps }: Pick<CommandPages, 'reads' | 'deps'>,
  { underWay, reverting, stopped }: HomeModel,
): Promise<ForViewer | null> {
  const { caller = null, session = null } = (c as Context<PageEnv>).var;
  if (caller === null || session === null) return null;
  const may = (right: NeededRight) => isPermitted(reads, deps, caller, right);
  const releases = await selectRows(underWay, (row) => listAnswers(row, reverting), may);
  const pipelines = await selectRows(
    stopped,
    ({ id, state }) => [{ verb: state === 'frozen' ? 'unfreeze' : 'unhold', target: id }],
    may,
  );
  return { releases, pipelines };
}

type NeededRight = Pick<OfferedCommand, 'verb' | 'target'>;

/** The commands with which a person answers a release that waits. */
function listAnswers(row: ListedRelease, reverting: readonly string[]): NeededRight[] {
  const { id } = row.release;
  const picks = (row.status?.actions ?? []).filter(waitsForPick);
  return [
    ...picks.map(({ name }): NeededRight => ({ verb: 'pick', target: `${id}/${name}` })),
    ...(isPausedForPerson(row) ? [{ verb: 'resume', target: id } as const] : []),
    ...(reverting.includes(id) ? [{ verb: 'revert', target: id } as const] : []),
  ];
}

/** The rows to which the reader may give one of their answers. */
async function selectRows<T>(
  rows: readonly T[],
  answersTo: (row: T) => readonly NeededRight[],
  may: (right: NeededRight) => Promise<boolean>,
): Promise<readonly T[]> {
  const waiting = rows.filter((row) => answersTo(row).length > 0).slice(0, MOST_ROWS_DECIDED);
  const found = await Promise.all(
    waiting.map(async (row) => (await Promise.all(answersTo(row).map(may))).includes(true)),
  );
  return waiting.filter((_row, nth) => found[nth]);
}

/** A right that cannot be looked up in time is left out. */
const isPermitted = async (
  reads: CommandPages['reads'],
  deps: CommandPages['deps'],
  caller: Caller,
  right: NeededRight,
): Promise<boolean> => (await unlessLate(decideCommand(reads.facts, deps.config, caller, right)))?.allowed === true;

import type { Pattern } from '../deploy/pattern';
import type { Classification } from '../views';

/** The kinds of rows, each archived once at its end; `unread` stands for a release or deploy that cannot be read. */
type RowKind = 'release' | 'action' | 'deploy' | 'phase' | 'check' | 'command' | 'unread';

/** When a pipeline releases (Conveyor §6.2, Table 1). */
export const CADENCES = ['continuous', 'daily', 'weekly', 'biweekly/monthly', 'manual-pick'] as const;
export type Cadence = (typeof CADENCES)[number];

/**
 * One line of the archive. Fields that do not apply to its kind are null; times are in ms since the epoch, durations in
 * ms.
 */
export interface ArchiveRow {
  /** Workflow id, run id and part: the same end always has the same key. */
  readonly key: string;
  readonly kind: RowKind;
  readonly pipeline: string;
  readonly release: number;
  /**
   * The name of an action, phase, check or command; of a deploy's action; or of the bug that ended a release, such as
   * `bug/7`.
   */
  readonly name: string | null;
  /**
   * The type of an action, push type of a deploy, or kind of a check; for a failed release, the type of the first
   * failed action.
   */
  readonly type: string | null;
  readonly state: string;
  /** Why a release was cancelled, the cause of a bad failure of a deploy, or why something cannot be read. */
  readonly cause: string | null;
  /** How a release began. */
  readonly trigger: string | null;
  /** For a release: the label `category` of its pipeline. */
  readonly category: string | null;
  /** For a release: when its pipeline releases. */
  readonly cadence: Cadence | null;
  /** Actions of a release, phases of a deploy. */
  readonly parts: number | null;
  readonly startedMs: number | null;
  readonly endedMs: number;
  readonly classification: Classification | null;
  /** The progress of a deploy when it failed, from 0 to 1. */
  readonly progress: number | null;
  /** The phase pattern of a deploy; null for deploys that always have a single phase. */
  readonly pattern: Pattern | null;
  readonly updateMs: number | null;
  readonly bakeMs: number | null;
  readonly preMs: number | null;
  readonly postMs: number | null;
  readonly revertMs: number | null;
  /** For a release: its row in `history`, as JSON without artifacts. */
  readonly detail: string | null;
  /** For a release: its artifacts, as JSON without metadata. */
  readonly artifacts: string | null;
}

/** The columns, in the order of the table. */
export const COLUMNS = [
  'key',
  'kind',
  'pipeline',
  'release',
  'name',
  'type',
  'state',
  'cause',
  'trigger',
  'category',
  'cadence',
  'parts',
  'startedMs',
  'endedMs',
  'classification',
  'progress',
  'pattern',
  'updateMs',
  'bakeMs',
  'preMs',
  'postMs',
  'revertMs',
  'detail',
  'artifacts',
] as const satisfies readonly (keyof ArchiveRow)[];

/** A row with only the required fields. */
export const blankRow = (
  row: Pick<ArchiveRow, 'key' | 'kind' | 'pipeline' | 'release' | 'state' | 'endedMs'>,
): ArchiveRow => ({
  ...{ name: null, type: null, cause: null, trigger: null, category: null, cadence: null, parts: null },
  ...{
    startedMs: null,
    classification: null,
    progress: null,
    pattern: null,
    updateMs: null,
    bakeMs: null,
    preMs: null,
  },
  ...{ postMs: null, revertMs: null, detail: null, artifacts: null },
  ...row,
});

/** Why a database would refuse a row, and with it the whole transaction; undefined if it would not. */
export function whyUnsound(row: ArchiveRow): string | undefined {
  const unsound = COLUMNS.find((name) => {
    const value = row[name];
    if (typeof value === 'string') return value.includes('\0');
    if (value === null || name === 'progress') return value !== null && !Number.isFinite(value);
    return !Number.isSafeInteger(value) || (SMALL_INTEGER.has(name) && Math.abs(value) > MAX_SMALL);
  });
  return unsound && `${row.key} cannot be archived: ${unsound} is ${JSON.stringify(row[unsound])}`;
}

/** Columns of four bytes. */
const SMALL_INTEGER: ReadonlySet<string> = new Set<keyof ArchiveRow>(['release', 'parts']);
const MAX_SMALL = 2 ** 31 - 1;

import { setWorkflowOptions, sleep } from '@temporalio/workflow';
import type { SnapshotPage } from '../activities/snapshots';
import { lookers } from './proxies';
import { WEEK_MS } from '../domain/milliseconds';
import { versioned } from './versioning';

/** A deploy that came to nothing may leave its units to the next for as long as that. */
const WEEKS_AFTER = 5;
/** Nobody waits for this. */
const NO_PATIENCE = { cancelGraceMs: 0, dependencyGraceMs: 0, reconcileIntervalMs: 0 };

/** Keeps a page of the units of a deploy, which is its input, while the deploy runs and for some weeks (docs/adr/0018). */
export async function snapshot({ deployId }: Pick<SnapshotPage, 'deployId'>): Promise<void> {
  for (let weeksOver = 0; weeksOver < WEEKS_AFTER;) {
    await sleep(WEEK_MS, { summary: 'whether the deploy still runs' });
    // A week in which nobody could look counts for nothing.
    const [running] = await lookers.stillRunning([deployId], NO_PATIENCE).catch(() => [deployId]);
    weeksOver = running === undefined ? weeksOver + 1 : 0;
  }
}
setWorkflowOptions(versioned('snapshot'), snapshot);

import { setWorkflowOptions, sleep } from '@temporalio/workflow';
import type { SnapshotPage } from '../activities/snapshots';
import { lookers } from './proxies';
import { WEEK_MS } from '../domain/milliseconds';
import { buildVersioningOptions } from './versioning';

/** The units of a deploy that failed may be taken over by the next deploy for this many weeks. */
const WEEKS_AFTER = 5;
/** No caller waits for this look. */
const NO_PATIENCE = { cancelGraceMs: 0, dependencyGraceMs: 0, reconcileIntervalMs: 0 };

/** Keeps a page of a deploy's units, which is its input, while the deploy runs and for some weeks after (docs/adr/0018). */
export async function snapshot({ deployId }: Pick<SnapshotPage, 'deployId'>): Promise<void> {
  for (let weeksOver = 0; weeksOver < WEEKS_AFTER;) {
    await sleep(WEEK_MS, { summary: 'whether the deploy still runs' });
    // A week without an answer does not count.
    const [running] = await lookers.stillRunning([deployId], NO_PATIENCE).catch(() => [deployId]);
    weeksOver = running === undefined ? weeksOver + 1 : 0;
  }
}
setWorkflowOptions(buildVersioningOptions('snapshot'), snapshot);

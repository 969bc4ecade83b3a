import { releaseId } from '../../domain/ids';
import { messageOf } from '../deploy/dependable';
import { recollections } from '../proxies';
import { Leftovers, waitFor } from '../waiting';
import type { ReleaseRun } from './run';

/** A rerun looks up once what the release came to that it runs again. Where nobody can say, nothing is carried over. */
export async function recall(run: ReleaseRun, of: number): Promise<void> {
  const { spec } = run.input;
  const id = releaseId(spec.pipeline, of);
  const leftovers = new Leftovers();
  const ask = () =>
    recollections.recall.executeWithOptions({ summary: `what ${id} came to` }, [spec.pipeline, of, spec.actions]);
  const waited = await waitFor(leftovers, ask, () => run.control.ending !== null);
  await leftovers.drained();
  if (waited.kind === 'done') run.recalled = waited.value;
  if (waited.kind === 'failed')
    run.log(
      'not-recalled',
      `nobody can say what ${id} came to, so that everything runs again: ${messageOf(waited.error)}`,
    );
}

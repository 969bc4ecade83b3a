import { releaseId } from '../../domain/ids';
import { getFailureMessage } from '../deploy/calls';
import { recollections } from '../proxies';
import { BackgroundTasks, waitFor } from '../waitFor';
import type { ReleaseSession } from './session';

/**
 * A rerun looks up once the results of the release that it runs again. If they cannot be found, no action is carried
 * over.
 */
export async function recall(run: ReleaseSession, of: number): Promise<void> {
  const { spec } = run.input;
  const id = releaseId(spec.pipeline, of);
  const background = new BackgroundTasks();
  const ask = () =>
    recollections.recall.executeWithOptions({ summary: `what ${id} came to` }, [spec.pipeline, of, spec.actions]);
  const waited = await waitFor(background, ask, { wake: () => run.control.ending !== null });
  await background.drain();
  if (waited.kind === 'done') run.recalled = waited.value;
  if (waited.kind === 'failed')
    run.log(
      'not-recalled',
      `the results of ${id} cannot be found, so everything runs again: ${getFailureMessage(waited.error)}`,
    );
}

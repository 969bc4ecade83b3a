import type { Artifact } from '../../domain/artifact';
import type { Admission } from '../../domain/release/admission';
import type { DeployAction } from '../../domain/spec/pipeline';
import { admitted, signalOver } from './asking';
import { globalGroups, ownGroups, unhindered } from './guards';
import type { ReleaseSession } from './session';
import { isLimited, untilRoom } from './windowRoom';

/**
 * Waits for everything that has to be waited for. What was admitted before a wait may have become known-bad, or the pipeline held,
 * by its end: the pipeline is asked again until it says yes and nothing else is in the way.
 */
export async function itsTurn(
  run: ReleaseSession,
  name: string,
  action: DeployAction,
  artifacts: readonly Artifact[],
  givesUp: () => boolean,
): Promise<Admission | undefined> {
  const global = globalGroups(run, action);
  const isCounted = isLimited(run, action);
  for (let isFirst = true; ;) {
    const asking = { kind: 'deploy' as const, artifacts, mutex: ownGroups(run, action) };
    if (isCounted && (await untilRoom(run, name, action, asking)) && run.admissions.has(name))
      return run.admissions.get(name);
    run.patch(name, { state: 'blocked', blockedBy: 'waiting for its turn to deploy' });
    const admission = await admitted(run, name, asking, isFirst ? undefined : givesUp);
    const sinceMs = Date.now();
    if (admission?.kind === 'granted' && isFirst && global.length > 0)
      await run.groups.hold(run, name, global, givesUp);
    if (admission?.kind === 'granted') await unhindered(run, name, givesUp);
    const isStill = Date.now() === sinceMs;
    if (admission?.kind !== 'granted' || givesUp()) return admission;
    // Others may have begun while it waited for its turn: then it gives that back, and waits in line.
    const giveBack = () =>
      Promise.all([signalOver(run, name, 'deploy'), run.groups.release(name)]).then(() => undefined);
    isFirst = isCounted && (await untilRoom(run, name, action, asking, giveBack));
    if (!isFirst && isStill) return admission;
  }
}

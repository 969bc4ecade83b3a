import { plural } from '../../../domain/text';
import type { Reachable } from '../../../sdk/conform/conversation';
import { conform, type Live } from '../../../sdk/conform/run';
import { conformText } from '../../../render/conform';
import { EXIT } from '../../exit';
import { liveRegion } from '../../live';
import { emit, parseOutput } from '../../output';
import type { CommandCall } from '../command';
import { usage, type CommonOptions } from './options';

/** Runs a suite and prints its report. @throws usage if `--only` leaves no check */
export async function runConformance<S extends Reachable>(
  { io, output: asked, options }: CommandCall<CommonOptions>,
  live: Live<S>,
): Promise<number> {
  const { only, json } = options;
  const checks = live.checks.filter(({ title }) => only === undefined || title.includes(only));
  if (checks.length === 0) throw usage(`no check has ${only} in its title`, 'without --only all checks run');
  const output = json ? await parseOutput(io, { ...options, output: 'json' }) : asked;
  const signal = io.interrupted();
  const screen = io.stderr.isTTY ? liveRegion(io.stderr) : undefined;
  let done = 0;
  const onOutcome = (): void => screen?.draw(`${(done += 1)} of ${plural(checks.length, 'check')}`);
  const found = await conform({ ...live, checks }, { signal, onOutcome }).finally(() => screen?.end());
  emit(io, output, found, {
    text: (view, shown) => conformText(shown, view),
    name: found.checks.filter(({ state }) => state === 'failed').map(({ title }) => title),
  });
  if (signal.aborted) return EXIT.interrupted;
  return found.failed > 0 ? EXIT.notSucceeded : EXIT.ok;
}

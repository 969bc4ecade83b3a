import { tryCheck, type ConformCheck } from '../../sdk/conform/check';
import type { Reachable } from '../../sdk/conform/conversation';

/** Runs a suite of `conveyor conform` as tests. `lacks` names what the service leaves out, as the protocol lets it: nothing else is skipped. */
export function describeSuite<S extends Reachable>(
  name: string,
  checks: readonly ConformCheck<S>[],
  makeSubject: () => Promise<S>,
  lacks: readonly string[] = [],
): void {
  describe(name, () => {
    test.each(checks.map((check) => [check.title, check] as const))('%s', async (_, check) => {
      const outcome = await tryCheck(check, makeSubject);
      if (outcome.state === 'skipped' && lacks.includes(outcome.lacks ?? '')) return;
      if (outcome.state !== 'passed') throw new Error(`${outcome.reason}\n${JSON.stringify(outcome.calls, null, 1)}`);
    });
  });
}
